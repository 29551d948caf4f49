// node-oidc-provider, certified by the OpenID Foundation, with its own pages for developers.
import http from "node:http";
import Provider from "oidc-provider";

const redirects = process.argv.slice(2);
const server = http.createServer();
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients: [{
      client_id: "risala",
      client_secret: "a secret: +/%",
      redirect_uris: redirects,
    }],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "groups"] },
    findAccount: (_, sub) => ({
      accountId: sub,
      claims: () => ({
        sub,
        email: sub.includes("@") ? sub : `${sub}@risala.example`,
        email_verified: true,
        groups: ["staff"],
      }),
    }),
    pkce: { required: () => true },
    cookies: { keys: ["only a test"] },
  });
  server.on("request", provider.callback());
  console.log(issuer);
});
