"""Functions without a budget, and why what they get is short, or holds up nobody."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_RULES: Final[Mapping[str, str]] = {
    "What it gets is the service's own: settings, figures, the trail, keys.": """
        changes.py: declared_nowhere differences fingerprint
        keyring.py: read
        receiptgroups.py: alone
        roles.py: judge
        router.py: pinned channel_route usual_first usual_of plain message_class_of as_flash
        sealing.py: seal unseal key_of read
        trail/chain.py: canonical hash_of moment
        trail/heads.py: signed_head public_key heads_of
        webhooks/signatures.py: stamped with_sms_id
        days.py: day_of date_of midnight next_midnight
        people/entering.py: is_over goes_on
        people/key_age.py: network_of
    """,
    "One row of at most 100 cells of 1,000 characters each, or one name of 100.": """
        people/names.py: as_name name_in_mails name_in_file
    """,
    "It looks once at each character, or only at the beginning.": """
        keyring.py: key_for
        days.py: is_zone
        people/emails.py: domain_of masked_email letters_by_script spelled
        template.py: is_app_hash
        webhooks/signatures.py: is_secret
        keywords.py: folded
    """,
    "What a code is for: a word of 60 characters.": """
        template.py: word_of word_fault
    """,
    "Names of senders: at most 11 letters.": """
        likeness.py: skeleton is_generic
    """,
    "A form of settings: a request is longer, and is played.": """
        verify_settings.py: parse_verify_settings stored_settings language_fault
    """,
}
_FEATURES: Final[Mapping[str, str]] = {
    "A provider's token, bounded where it is fetched.": """
        providers/rules.py: token_fault signed_in_now identity_of
    """,
    "What it gets is the service's own: settings, figures, the trail, keys.": """
        approvals/rules.py: is_asker
        request_log/rules.py: made_thing
        providers/rules.py: provider_of member_provider authorization_query half_hash
        mailings/rules.py: opens_at next_midnight
        alerts/readings.py: queue_old rate_low codes_abused
        alerts/readings.py: balance_low numbers_unserved inbound_unserved
        alerts/readings.py: sign_in_failing trail_broken item_set_aside
        alerts/rules.py: latest usual by_network
        hooks/rules/presets.py: preset_of
    """,
    "It looks once at each character, or only at the beginning.": """
        compat/rules.py: shape_of username_fault ignored text_of
        request_log/rules.py: hidden
        session_details/rules.py: minor_of shown_amount same_payment
        hooks/rules/presets.py: preset
    """,
    "The body of an answer: a request is longer, and is played.": """
        request_log/rules.py: answered_text
    """,
    "As many payments as one reference has open.": """
        payments/rules.py: owner_of
    """,
    "A process of its own reads tables: it holds up nothing else.": """
        tables/rules/checking.py: row_checker check_row read_number has_number
        tables/rules/encodings.py: is_workbook
        tables/rules/recognising.py: separator_named recognise_separator split
        tables/rules/recognising.py: cleaned sample_rows recognise_table
        tables/rules/recognising.py: column_names numbers_of
    """,
    "One row of at most 100 cells of 1,000 characters each, or one name of 100.": """
        tables/rules/faults.py: fault_words
        tables/rules/rendering.py: folded render cell_at name_in
        mailings/rules.py: report_heading report_cells wrong_of
    """,
}
_SMS: Final[Mapping[str, str]] = {
    "It looks once at each character of a number, a sender or a word.": """
        address.py: source_address destination_address destination_digits
        address.py: sender_fault spelled fold_sender
        cause.py: cause_of
        currencies.py: decimals_of count_in counting_in has_too_many currency_of usual_price
        currencies.py: example_amount
        unseen.py: name_of
        code_texts/catalogue.py: language_of
        typed.py: western
        message.py: submit_reference
        evident.py: read_label
        numbering/country.py: country_of_code english_name
        numbering/countries.py: country network network_of prefixes_of
        numbering/plan.py: compact is_digits
        numbering/plan.py: part_min ranges_of
        numbering/plan.py: plan_of
    """,
    "One part, or once the longest text; `count`, `split`, `cut` and `judge_octets` use it.": """
        alphabet.py: fits_gsm7 choose_alphabet septet_count
        alphabet.py: code_unit_count encode_gsm7 encode_gsm7_part
        alphabet.py: decode_gsm7 decode_gsm7_part encode_ucs2 decode_ucs2 decode_ucs2_part plainer
        segment.py: is_boundary
        national.py: decode_national encode_national
        segment.py: whole halves join join_cut parse_user_data_header
    """,
    "One part, or the piece of a longer text by which `judge_octets` chooses its form.": """
        evident.py: judge
        likely.py: cost_bits reads_as_text
    """,
    "It looks at the header, which one octet counts, or once at each octet.": """
        evident.py: judge_header mms_notice
    """,
}
_BANKS: Final = {"One amount of a text of 700 characters.": "patterns.py: amount_of"}


def _listed(room: str, groups: Mapping[str, str]) -> dict[str, str]:
    found = {}
    for why, lines in groups.items():
        for line in filter(None, map(str.strip, lines.splitlines())):
            file, _, names = line.partition(": ")
            found |= {f"{room}/{file}:{name}": why for name in names.split()}
    return found


SMALL: Final[Mapping[str, str]] = {
    **_listed("engine/rules", _RULES),
    **_listed("engine/features", _FEATURES),
    **_listed("sms", _SMS),
    **_listed("drivers/payments", _BANKS),
}
"""By function: the reason."""
