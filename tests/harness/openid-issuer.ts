import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWTPayload } from "jose";

export const clientId = "shop";
export const clientSecret = "the secret of the client at the issuer";

/** A user of the issuer. */
export type IssuerUser = Readonly<Record<string, unknown>> & { readonly sub: string };

/** The differences from a correct issuer. */
export interface IssuerTwist {
  /** Changes the metadata. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Changes the claims of the ID token. */
  readonly claims?: (claims: JWTPayload) => JWTPayload;
  /** Makes the ID token in another way. Returns null to send none. */
  readonly sign?: (claims: JWTPayload, key: CryptoKey) => Promise<string | null>;
  /** Answers the token request in another way. */
  readonly token?: (response: ServerResponse) => void;
  /** The answer of the userinfo endpoint. */
  readonly userinfo?: Readonly<Record<string, unknown>>;
  /** True to accept every code any number of times, and without PKCE. */
  readonly isLax?: boolean;
}

/** An OpenID Connect issuer over HTTP on loopback. It behaves correctly, except for the changes of `IssuerTwist`. */
export interface Issuer {
  readonly issuer: string;
  readonly keyId: string;
  readonly publicKey: CryptoKey;
  /** The requests so far, by path. */
  readonly requests: string[];
  /** The user who logs in at the issuer. */
  user: IssuerUser;
  twist: IssuerTwist;
  /** Logs the user in at the address that the service sent the browser to. Returns the address of the callback. */
  authorize(address: string): Promise<URL>;
  stop(): Promise<void>;
}

interface Code {
  readonly nonce: string;
  readonly challenge: string;
  readonly user: IssuerUser;
}

/** Starts an issuer and stops it with the test. */
export async function startIssuer(t: Pick<TestContext, "after">, now: () => number): Promise<Issuer> {
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const keyId = "key-1";
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: keyId, alg: "ES256", use: "sig" }] };
  const codes = new Map<string, Code>();
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const self: Issuer = {
    issuer,
    keyId,
    publicKey,
    requests: [],
    user: { sub: "ada-at-the-issuer", email: "ada@company.example", email_verified: true, name: "Ada" },
    twist: {},
    async authorize(address) {
      const response = await fetch(address, { redirect: "manual" });
      const location = response.headers.get("location");
      if (location === null) throw new Error(`The issuer answered ${response.status}: ${await response.text()}`);
      return new URL(location);
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  t.after(() => (server.listening ? self.stop() : undefined));

  const buildClaims = ({ nonce, user }: Code): JWTPayload => {
    const iat = Math.floor(now() / 1000);
    const claims = { iss: issuer, aud: clientId, iat, exp: iat + 300, auth_time: iat, nonce, ...user };
    return self.twist.claims?.(claims) ?? claims;
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url!, issuer);
    self.requests.push(url.pathname);
    switch (url.pathname) {
      case "/.well-known/openid-configuration":
        return json(response, { ...buildMetadata(issuer), ...self.twist.metadata });
      case "/keys":
        return json(response, jwks);
      case "/authorize":
        return authorize(url.searchParams, response);
      case "/token":
        return token(request, await readBody(request), response);
      case "/userinfo":
        return json(response, self.twist.userinfo ?? self.user);
      default:
        return json(response, {}, 404);
    }
  }

  function authorize(query: URLSearchParams, response: ServerResponse): void {
    const code = randomUUID();
    codes.set(code, { nonce: query.get("nonce")!, challenge: query.get("code_challenge")!, user: self.user });
    const back = new URL(query.get("redirect_uri")!);
    back.search = new URLSearchParams({ code, state: query.get("state")!, iss: issuer }).toString();
    response.writeHead(302, { location: back.href }).end();
  }

  async function token(request: IncomingMessage, body: URLSearchParams, response: ServerResponse): Promise<void> {
    const { twist } = self;
    if (twist.token !== undefined) return twist.token(response);
    const code = codes.get(body.get("code") ?? "");
    if (twist.isLax !== true) codes.delete(body.get("code") ?? "");
    const challenge = createHash("sha256")
      .update(body.get("code_verifier") ?? "")
      .digest("base64url");
    const basic = `Basic ${Buffer.from(`${clientId}:${new URLSearchParams({ s: clientSecret }).toString().slice(2)}`).toString("base64")}`;
    if (request.headers.authorization !== basic) return json(response, { error: "invalid_client" }, 401);
    if (code === undefined || (twist.isLax !== true && code.challenge !== challenge))
      return json(response, { error: "invalid_grant" }, 400);
    const claims = buildClaims(code);
    const idToken = await (twist.sign ?? sign)(claims, privateKey);
    const rest = { access_token: randomUUID(), token_type: "Bearer", expires_in: 300 };
    return json(response, idToken === null ? rest : { ...rest, id_token: idToken });
  }

  const sign = (claims: JWTPayload, key: CryptoKey): Promise<string> =>
    new SignJWT(claims).setProtectedHeader({ alg: "ES256", kid: keyId }).sign(key);

  return self;
}

function buildMetadata(issuer: string): Readonly<Record<string, unknown>> {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    jwks_uri: `${issuer}/keys`,
    response_types_supported: ["code"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["ES256", "HS256", "none"],
    authorization_response_iss_parameter_supported: true,
    code_challenge_methods_supported: ["S256"],
  };
}

function json(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}

async function readBody(request: IncomingMessage): Promise<URLSearchParams> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return new URLSearchParams(text);
}
