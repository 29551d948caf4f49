export const VERSION: string;
export const TOLERANCE_S: number;

export interface Retrying {
  deadlineMs: number;
  attemptMs: number;
  firstWaitMs: number;
  waitMaxMs: number;
  retryAfterMaxMs: number;
}
export const RETRYING: Readonly<Retrying>;

export type Fault = "caller" | "organization" | "service" | "network";

export class RisalaError extends Error {
  readonly fault: Fault;
  readonly isPassing: boolean;
  readonly isMaybeDone: boolean;
  readonly idempotencyKey: string | undefined;
}
export class RefusedError extends RisalaError {
  readonly status: number;
  readonly code: string;
  readonly data: Record<string, unknown>;
  readonly word: string | undefined;
  readonly requestId: string | undefined;
  readonly retryAfterS: number | undefined;
}
export interface FieldIssue {
  path: (string | number)[];
  code: string;
  message: string;
}
export class RequestFaultError extends RefusedError {}
export class BadRequestError extends RequestFaultError {
  readonly issues: FieldIssue[];
}
export class UnauthorizedError extends RequestFaultError {}
export class KeyExpiredError extends UnauthorizedError {}
export class KeyForbiddenError extends RequestFaultError {}
export class ChallengeRequiredError extends KeyForbiddenError {
  readonly challenge: Challenge;
}
export class UnknownIdError extends RequestFaultError {}
export class PaymentRequiredError extends RefusedError {}
export class TooManyRequestsError extends RefusedError {
  readonly limit: string | undefined;
}
export class ServiceFaultError extends RefusedError {}
export class UnavailableError extends ServiceFaultError {}
export class UnansweredError extends RisalaError {}
export class LostAnswerError extends UnansweredError {}
export class UnreadableAnswerError extends UnansweredError {}
export class AbortedError extends RisalaError {}
export class SignatureError extends RisalaError {}

export interface Challenge {
  id: string;
  algorithm: string;
  bits: number;
  parts: number;
  validSeconds: number;
}
export interface ChallengeAnswer {
  id: string;
  nonce: string;
}
export interface Progressing {
  /** Called with the share that is done, from 0 to 1. */
  onProgress?: (share: number) => void;
}
export function solveChallenge(
  challenge: Challenge,
  options?: Signalled & Progressing,
): Promise<ChallengeAnswer>;

export interface Signalled {
  signal?: AbortSignal;
}
export interface SentMessage {
  accepted: true;
  messageId: string;
  idempotencyKey: string;
  organizationId: string;
  from: string;
  notice?: { code: string; requestedFrom: string; message: string };
}
export type MessageStatus =
  | "pending"
  | "processing"
  | "sent"
  | "delivered"
  | "undelivered"
  | "failed"
  | "canceled";
export interface Message {
  messageId: string;
  id: string;
  to: string;
  from: string;
  body: string | null;
  status: MessageStatus;
  segments: number | null;
  encoding: string | null;
  /** 0: a flash message. */
  messageClass: 0 | null;
  price: string | null;
  currency: string | null;
  attempts: number | null;
  carrier: string | null;
  providerMessageId: string | null;
  errorCode: string | null;
  errorText: string | null;
  carrierCode: string | null;
  metadata: Record<string, string> | null;
  sendAt: string | null;
  sentAt: string | null;
  deliveredAt: string | null;
  createdAt: string;
  updatedAt: string;
}
export interface Verification {
  id: string;
  to: string;
  status: "pending" | "approved" | "expired" | "canceled";
  attempts: number;
  expiresAt: string;
  createdAt: string;
  updatedAt: string;
  /** Where it was given any. */
  tags?: string[];
  /** What the user does in place of entering a code. */
  method?: "inbound_sms" | "missed_call";
}
export interface ReverseStart {
  verificationId: string;
  status: "pending";
  method: "inbound_sms" | "missed_call";
  sendTo: string;
  /** Null: the user calls. */
  text: string | null;
  link: string;
  qrSvg: string;
  page: string;
  expiresAt: string;
}
export interface CodeFigure {
  /** What it is of, such as a day or a carrier; null: not known, "*": all others. */
  of: string | null;
  asked: number;
  sent: number;
  delivered: number;
  entered: number;
  withinMinute: number;
  medianSeconds: number | null;
  p90Seconds: number | null;
  cost: string;
}
export interface CodeReport {
  by: string;
  currency: string;
  countedUntil: string | null;
  whole: CodeFigure;
  items: CodeFigure[];
}
export interface Page<Item> {
  items: Item[];
  next: string | null;
  previous: string | null;
}
export interface MessageFilter extends Signalled {
  status?: MessageStatus;
  to?: string;
  from?: string;
  since?: string | Date;
  until?: string | Date;
  limit?: number;
}
export type CostSource = "mailing" | "key" | "codes" | "other";
export interface SourceCost {
  source: CostSource;
  messages: number;
  amount: string;
}
export interface SenderCost extends SourceCost {
  /** The id of the key or mailing; null: all others together. */
  of: string | null;
  name: string | null;
}
export interface InvoiceDay {
  day: string;
  sources: SourceCost[];
  refunded: string;
}
export interface StatementDay extends InvoiceDay {
  credited: string;
  balanceAfter: string;
}
export interface Statement {
  month: string;
  timeZone: string;
  currency: string;
  opening: string;
  closing: string;
  charged: string;
  refunded: string;
  credited: string;
  sources: SourceCost[];
  senders: SenderCost[];
  days: StatementDay[];
  ownParts: { day: string; parts: number }[];
  countedUntil: string | null;
}
export interface Invoice {
  id: string;
  number: string;
  organizationName: string;
  customerAddress: string[];
  customerTaxId: string;
  issuer: { name: string; address: string[]; taxId: string; tradeRegister: string };
  month: string;
  timeZone: string;
  currency: string;
  charged: string;
  refunded: string;
  /** Below zero it is a credit note. */
  total: string;
  /** Null: the invoice names no VAT. */
  vatPercent: string | null;
  /** A part of the total. */
  vat: string | null;
  sources: SourceCost[];
  days: InvoiceDay[];
  issuedAt: string;
}
export interface AnswerRuleSettings {
  place?: number;
  enabled?: boolean;
  /** Empty: any text. */
  keywords?: string[];
  anywhere?: boolean;
  firstContact?: boolean;
  days?: string[];
  /** An empty one takes it away. */
  fromTime?: string;
  toTime?: string;
  language?: string;
  textFr?: string;
  textAr?: string;
  textEn?: string;
  forwardNumber?: string;
  forwardEmail?: string;
  forwardChat?: string;
  botToken?: string;
  forwardUrl?: string;
  forwardSecret?: string;
}
export interface AnswerRule
  extends Required<Omit<AnswerRuleSettings, "fromTime" | "toTime" | "botToken" | "forwardSecret">> {
  ruleId: string;
  name: string;
  fromTime: string | null;
  toTime: string | null;
  createdAt: string;
}
export interface PausedNumber {
  number: string;
  until: string;
}
export interface TriedText {
  /** Null: it meets no rule. */
  rule: AnswerRule | null;
  answer: string | null;
  forwards: {
    kind: "sms" | "mail" | "telegram" | "webhook";
    to: string;
    text: string | null;
    segments: number | null;
    reason: string | null;
  }[];
}
export type WordRole = "stop" | "start" | "help" | "list";
export interface OptOuts {
  heeds: boolean;
  sets: string[];
  answered: string[];
  back: "person" | "own" | "hand";
  words: { word: string; role: WordRole; language: string; [member: string]: unknown }[];
  answers: {
    role: WordRole;
    language: string;
    written: string;
    text: string;
    parts: number;
    own: boolean;
    isSent: boolean;
  }[];
  demands: { prefix: string; [member: string]: unknown }[];
}
export interface ListedOptOut {
  listId: string;
  number: string;
}
export interface PageOf {
  limit?: number;
  before?: string | null;
  after?: string | null;
}

export class Risala {
  constructor(url: string, key: string, options?: Partial<Retrying> & { fetch?: typeof fetch });
  toString(): string;
  sendVerification(
    to: string,
    options?: Signalled & Progressing & {
      /** ar, en, es, fr, ha, pt, sw, tr, wo, or one that the operator added. */
      locale?: string;
      appHash?: string;
      origin?: string;
      /** Instead of what the call solves itself. */
      challenge?: ChallengeAnswer;
      /** From here on with a secret key. */
      clientIp?: string;
      userAgent?: string;
      tags?: string[];
      code?: string;
      amount?: string;
      currency?: string;
      payee?: string;
      template?: string;
      variables?: Record<string, string>;
    },
  ): Promise<{ verificationId: string }>;
  checkVerification(
    verificationId: string,
    /** Undefined with `reported`. */
    code: string | undefined,
    options?: Signalled & {
      amount?: string;
      currency?: string;
      payee?: string;
      /** With a secret key, of a code of your own. */
      reported?: "approved" | "failed";
    },
  ): Promise<{ status: "approved" | "denied" }>;
  checkNumber(
    to: string,
    code: string,
    options?: Signalled,
  ): Promise<{ status: "approved" | "denied" }>;
  resendVerification(
    verificationId: string,
    options?: Signalled & { channel?: string },
  ): Promise<{ verificationId: string } | Verification>;
  startVerification(
    method: "inbound_sms" | "missed_call",
    /** Undefined: the number that sends the text is proven; with a secret key. */
    to?: string,
    options?: Signalled & { locale?: string },
  ): Promise<ReverseStart>;
  getVerification(verificationId: string, options?: Signalled): Promise<Verification>;
  getCodeFigures(
    options: Signalled & {
      since: string | Date;
      until?: string | Date;
      by?: "day" | "network" | "country" | "carrier" | "channel" | "key" | "language";
    },
  ): Promise<CodeReport>;
  sendMessage(
    to: string,
    body: string,
    options?: Signalled & {
      from?: string;
      idempotencyKey?: string;
      sendAt?: string | Date;
      validitySeconds?: number;
      /** 0: a flash message, which the phone shows at once and does not keep. */
      messageClass?: 0;
      metadata?: Record<string, string>;
    },
  ): Promise<SentMessage>;
  getMessage(messageId: string, options?: Signalled): Promise<Message>;
  listMessages(
    options?: MessageFilter & { before?: string | null; after?: string | null },
  ): Promise<Page<Message>>;
  iterMessages(options?: MessageFilter): AsyncGenerator<Message, void, undefined>;
  getStatement(month?: string, options?: Signalled): Promise<Statement>;
  listInvoices(options?: Signalled & PageOf): Promise<Page<Invoice>>;
  iterInvoices(options?: Signalled & { limit?: number }): AsyncGenerator<Invoice, void, undefined>;
  listAnswerRules(options?: Signalled): Promise<{ items: AnswerRule[]; paused: PausedNumber[] }>;
  createAnswerRule(name: string, options?: Signalled & AnswerRuleSettings): Promise<AnswerRule>;
  updateAnswerRule(
    ruleId: string,
    options: Signalled & AnswerRuleSettings & { name?: string },
  ): Promise<AnswerRule>;
  deleteAnswerRule(ruleId: string, options?: Signalled): Promise<AnswerRule>;
  tryText(text: string, options?: Signalled & { number?: string }): Promise<TriedText>;
  resumeAnswers(number: string, options?: Signalled): Promise<PausedNumber>;
  getOptOuts(options?: Signalled): Promise<OptOuts>;
  updateOptOuts(
    options: Signalled & Partial<Pick<OptOuts, "sets" | "answered" | "back">>,
  ): Promise<OptOuts>;
  addOptOutWord(
    word: string,
    role: WordRole,
    language: string,
    options?: Signalled & { listId?: string },
  ): Promise<OptOuts>;
  removeOptOutWord(word: string, options?: Signalled): Promise<OptOuts>;
  setOptOutAnswer(
    role: WordRole,
    language: string,
    text: string,
    options?: Signalled & { preview?: boolean },
  ): Promise<OptOuts>;
  optOutOfList(
    listId: string,
    number: string,
    options?: Signalled & { note?: string },
  ): Promise<ListedOptOut>;
  optInToList(
    listId: string,
    number: string,
    options?: Signalled & { note?: string },
  ): Promise<ListedOptOut>;
}

export interface WebhookEvent {
  id: string;
  type: string;
  createdAt: string;
  organizationId: string;
  test: boolean;
  [member: string]: unknown;
}
export type Octets = string | Uint8Array | ArrayBuffer;
export type HeadersLike =
  | { get(name: string): string | null }
  | Record<string, string | string[] | undefined>;

export class Webhook {
  constructor(
    secrets: string | string[],
    options?: { toleranceS?: number; clock?: () => number },
  );
  verify(body: Octets, headers: HeadersLike): Promise<WebhookEvent>;
  verifySigned(body: Octets, signature: string): Promise<WebhookEvent>;
}
