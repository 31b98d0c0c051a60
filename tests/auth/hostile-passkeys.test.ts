import assert from "node:assert/strict";
import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { test, type TestContext } from "node:test";
import { toCOSEKey, makeAuthenticator, writeCBOR, type Authenticator, type Twist } from "../harness/authenticator.ts";
import { serve, type Answered, type API } from "../harness/serve.ts";

// Nightly on PostgreSQL: the service refuses these answers by their content.

// Answers of attackers and of broken clients. Each answer is wrong in one place and otherwise right, signature
// included. The service refuses each with the documented problem, and the user's passkey works afterwards.

const origin = "https://app.example.com";
const settings = { LATCHKEY_PUBLIC_URL: "https://example.com", LATCHKEY_ALLOWED_ORIGINS: origin };
const bearer = (access: string) => ({ authorization: `Bearer ${access}` });

/** A wrong answer: changes before the signature, and changes of the finished answer. */
interface Case extends Twist {
  readonly answer?: (answer: Answer) => unknown;
}

interface Answer extends Readonly<Record<string, unknown>> {
  readonly response: Readonly<Record<string, string>>;
}

const inResponse =
  (change: (response: Answer["response"]) => object) =>
  (answer: Answer): unknown => ({ ...answer, response: { ...answer.response, ...change(answer.response) } });
const bytes = (text: string): Buffer => Buffer.from(text, "base64url");
const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();
const rsa1024 = generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey;
const ec384 = generateKeyPairSync("ec", { namedCurve: "P-384" }).publicKey;
const edward = generateKeyPairSync("ed25519").publicKey;
const p256 = generateKeyPairSync("ec", { namedCurve: "P-256" });
const withRPHash = (rpId: string) => (data: Buffer) => Buffer.concat([sha256(rpId), data.subarray(32)]);

/** Cases that are wrong in every ceremony: a login with a passkey alone, a second factor and a new passkey. */
const everywhere: Readonly<Record<string, Case>> = {
  "an origin with a path": { origin: `${origin}/` },
  "an origin with its usual port": { origin: `${origin}:443` },
  "an origin in capitals": { origin: "https://APP.example.com" },
  "an origin with a final dot": { origin: "https://app.example.com." },
  "an origin with a name before the host": { origin: "https://app.example.com@evil.example" },
  "an origin with letters that look alike": { origin: "https://\u0430pp.ex\u0430mple.com" },
  "an origin with a space": { origin: ` ${origin}` },
  "an origin with a zero byte": { origin: `${origin}\u0000.evil.example` },
  "a sibling host that is not allowed": { origin: "https://other.example.com" },
  "the origin null": { origin: "null" },
  "an origin that is a list": { client: (text) => text.replace(`"${origin}"`, `["${origin}"]`) },
  "no origin at all": { client: (text) => text.replace(/"origin":"[^"]*",/, "") },
  "a challenge with padding": { client: (text) => text.replace(/("challenge":"[^"]*)"/, '$1="') },
  "a challenge with a changed case": {
    client: (text) => text.replace(/(?<="challenge":")[^"]*/, (each) => each.toUpperCase()),
  },
  "a challenge cut short": { client: (text) => text.replace(/.(?=","origin)/, "") },
  "a challenge that is a list": { client: (text) => text.replace(/"challenge":("[^"]*")/, '"challenge":[$1]') },
  "no challenge at all": { client: (text) => text.replace(/"challenge":"[^"]*",/, "") },
  "a second challenge": {
    client: (text) => text.replace("{", `{"challenge":"AAAA",`).replace(/}$/, `,"challenge":"AAAA"}`),
  },
  "a type in capitals": { client: (text) => text.replace("webauthn.", "WEBAUTHN.") },
  "the type of a payment": { type: "payment.get" },
  "crossOrigin as a text": { client: (text) => text.replace('"crossOrigin":false', '"crossOrigin":"true"') },
  "crossOrigin as a number": { client: (text) => text.replace('"crossOrigin":false', '"crossOrigin":1') },
  "an empty top origin": { topOrigin: "" },
  "client data that is not JSON": { client: (text) => text.slice(1) },
  "client data that is a list": { client: (text) => `[${text}]` },
  "client data that is null": { client: () => "null" },
  "client data behind other text": { client: (text) => `x${text}` },
  "client data that is not UTF-8": { client: (text) => Buffer.concat([Buffer.from([0xff]), Buffer.from(text)]) },
  "client data of 20 kB": { client: (text) => text.replace("{", `{"more":"${"x".repeat(20_000)}",`) },
  "client data in Base64 with padding": {
    answer: inResponse(({ clientDataJSON }) => ({
      clientDataJSON: bytes(clientDataJSON!).toString("base64").padEnd(999, "="),
    })),
  },
  "client data with a line break": {
    answer: inResponse(({ clientDataJSON }) => ({
      clientDataJSON: `${clientDataJSON!.slice(0, 40)}\n${clientDataJSON!.slice(40)}`,
    })),
  },
  "no client data": { answer: inResponse(() => ({ clientDataJSON: undefined })) },
  "client data in bytes": {
    answer: inResponse(({ clientDataJSON }) => ({ clientDataJSON: [...bytes(clientDataJSON!)] })),
  },
  "the RP id in capitals": { data: withRPHash("EXAMPLE.COM") },
  "the RP id with a final dot": { data: withRPHash("example.com.") },
  "the RP id of the parent domain": { data: withRPHash("com") },
  "an RP id of zeros": { data: (data) => Buffer.concat([Buffer.alloc(32), data.subarray(32)]) },
  "authenticator data cut in the head": { data: (data) => data.subarray(0, 36) },
  "no authenticator data": { data: () => Buffer.alloc(0) },
  "extensions that are announced and missing": { data: withFlag(0x80) },
  "extensions that are a list": { data: (data) => Buffer.concat([withFlag(0x80)(data), writeCBOR([])]) },
  "bytes behind the extensions": {
    data: (data) => Buffer.concat([withFlag(0x80)(data), writeCBOR(new Map()), Buffer.from([0])]),
  },
  "extensions that never end": { data: (data) => Buffer.concat([withFlag(0x80)(data), Buffer.from([0xbf])]) },
  "extensions with one key twice": {
    data: (data) => Buffer.concat([withFlag(0x80)(data), Buffer.from("a2616101616102", "hex")]),
  },
  "extensions with a tag": { data: (data) => Buffer.concat([withFlag(0x80)(data), Buffer.from("a16161c001", "hex")]) },
  "extensions in a hundred layers": {
    data: (data) => Buffer.concat([withFlag(0x80)(data), Buffer.from(`${"a16161".repeat(100)}01`, "hex")]),
  },
  "extensions with four billion members": {
    data: (data) => Buffer.concat([withFlag(0x80)(data), Buffer.from("baffffffff", "hex")]),
  },
  "the user verified but not present": { flags: 0x04 },
  "a backup that is not eligible": { data: withFlag(0x10) },
  "no id": { answer: (answer) => ({ ...answer, id: undefined }) },
  "an id that is a number": { answer: (answer) => ({ ...answer, id: 7 }) },
  "an id with padding": {
    answer: (answer) => ({ ...answer, id: `${String(answer["id"])}=`, rawId: `${String(answer["id"])}=` }),
  },
  "an id of 2 kB": { answer: (answer) => ({ ...answer, id: "A".repeat(2000), rawId: "A".repeat(2000) }) },
  "an id that is not Base64url": { answer: (answer) => ({ ...answer, id: "💥", rawId: "💥" }) },
  "an id that differs from the raw id": { answer: (answer) => ({ ...answer, rawId: "AAAA" }) },
  "a credential of type password": { answer: (answer) => ({ ...answer, type: "password" }) },
  "no type of credential": { answer: (answer) => ({ ...answer, type: undefined }) },
  "a response that is null": { answer: (answer) => ({ ...answer, response: null }) },
  "a response that is a list": { answer: (answer) => ({ ...answer, response: [answer.response] }) },
  "an answer in a list": { answer: (answer) => [answer] },
  "an answer in a text": { answer: (answer) => JSON.stringify(answer) },
  "an answer in its prototype": {
    answer: (answer) => JSON.parse(`{"__proto__":${JSON.stringify(answer)}}`) as unknown,
  },
};

function withFlag(bit: number) {
  return (data: Buffer): Buffer => {
    const changed = Buffer.from(data);
    changed.writeUInt8(changed.readUInt8(32) | bit, 32);
    return changed;
  };
}

/** Cases that are wrong in a login. */
const assertions: Readonly<Record<string, Case>> = {
  "an empty signature": { answer: inResponse(() => ({ signature: "" })) },
  "no signature": { answer: inResponse(() => ({ signature: undefined })) },
  "a signature cut short": { answer: inResponse(({ signature }) => ({ signature: signature!.slice(0, -2) })) },
  "a signature with bytes behind it": { answer: inResponse(({ signature }) => ({ signature: `${signature!}AAAA` })) },
  "a signature of zeros": { answer: inResponse(() => ({ signature: bytes("A".repeat(96)).toString("base64url") })) },
  "a signature in the form of JWS": {
    answer: inResponse(({ signature }) => ({ signature: convertSignature(bytes(signature!)).toString("base64url") })),
  },
  "a signature of 20 kB": { answer: inResponse(() => ({ signature: "A".repeat(20_000) })) },
  "a key from the client, and its signature": { answer: withOwnKey },
  "a new passkey instead of an answer": {
    answer: (answer) => ({
      ...answer,
      response: { clientDataJSON: answer.response["clientDataJSON"], attestationObject: "oA" },
    }),
  },
  "a user handle of another user": { userHandle: Buffer.from("user:1").toString("base64url") },
  "a user handle with a sign": { userHandle: Buffer.from("user:+2").toString("base64url") },
  "a user handle that is not Base64url": { userHandle: "💥" },
  "a backup flag that the passkey did not have": { data: withFlag(0x08) },
  "a counter that went back": { counter: 0 },
};

/** Adds a key of the client to the signed data, and signs with it. */
function withOwnKey(answer: Answer): unknown {
  const head = withFlag(0x40)(bytes(answer.response["authenticatorData"]!));
  const id = bytes(String(answer["id"]));
  const length = Buffer.from([0, id.length]);
  const data = Buffer.concat([head, Buffer.alloc(16), length, id, writeCBOR(toCOSEKey(p256.publicKey, -7))]);
  const message = Buffer.concat([
    data,
    createHash("sha256").update(bytes(answer.response["clientDataJSON"]!)).digest(),
  ]);
  const signature = sign("sha256", message, p256.privateKey).toString("base64url");
  return { ...answer, response: { ...answer.response, authenticatorData: data.toString("base64url"), signature } };
}

/** Returns the two numbers of a DER signature, each in 32 bytes. */
function convertSignature(der: Buffer): Buffer {
  const first = der.subarray(4, 4 + der[3]!);
  const second = der.subarray(4 + der[3]! + 2);
  return Buffer.concat([first, second].map((each) => Buffer.concat([Buffer.alloc(32), each]).subarray(-32)));
}

const withObject = (change: (object: Buffer) => Buffer): Case => ({
  answer: inResponse(({ attestationObject }) => ({
    attestationObject: change(bytes(attestationObject!)).toString("base64url"),
  })),
});
const alterKey = (change: (key: Map<number, unknown>) => void): Case => {
  const key = new Map(toCOSEKey(p256.publicKey, -7));
  change(key);
  return { key };
};

/** Cases that are wrong for a new passkey. */
const registrations: Readonly<Record<string, Case>> = {
  "an attestation cut short": withObject((object) => object.subarray(0, -1)),
  "half an attestation": withObject((object) => object.subarray(0, object.length / 2)),
  "bytes behind the attestation": withObject((object) => Buffer.concat([object, Buffer.from([0])])),
  "no attestation": { answer: inResponse(() => ({ attestationObject: undefined })) },
  "an attestation of one byte": withObject(() => Buffer.from([0xa0])),
  "an attestation that never ends": withObject((object) =>
    Buffer.concat([Buffer.from([0xbf]), object.subarray(1), Buffer.from([0xff])]),
  ),
  "an attestation with a tag": withObject((object) => Buffer.concat([Buffer.from([0xc1]), object])),
  "an attestation with a member twice": withObject((object) =>
    Buffer.concat([Buffer.from([0xa4]), object.subarray(1), Buffer.from("63666d74646e6f6e65", "hex")]),
  ),
  "an attestation with one more member": withObject((object) =>
    Buffer.concat([Buffer.from([0xa4]), object.subarray(1), Buffer.from("616101", "hex")]),
  ),
  "an attestation of 20 kB": withObject((object) => Buffer.concat([object, Buffer.alloc(20_000)])),
  "a length of eight bytes": withObject(() => Buffer.from("bb00000000ffffffff", "hex")),
  "the format fido-u2f": { fmt: "fido-u2f" },
  "an empty format": { fmt: "" },
  "a self attestation that another key has signed": { self: { key: p256.privateKey } },
  "a self attestation with another algorithm": { self: { alg: -257 } },
  "a self attestation without an algorithm": { self: { alg: "ES256" } },
  "a self attestation with an empty signature": {
    fmt: "packed",
    attStmt: new Map<string, unknown>([
      ["alg", -7],
      ["sig", Buffer.alloc(0)],
    ]),
  },
  "a self attestation with the format none": { self: {}, fmt: "none" },
  "an attestation with certificates": { self: { more: new Map([["x5c", [Buffer.from([0x30])]]]) } },
  "an attestation with an empty list of certificates": { self: { more: new Map([["x5c", []]]) } },
  "a statement with the format none": { attStmt: new Map([["alg", -7]]) },
  "an RSA key of 1,024 bits": { key: toCOSEKey(rsa1024, -257) },
  "a key on another curve": { key: toCOSEKey(ec384, -35) },
  "a key that is not on its curve": alterKey((key) => key.set(-3, Buffer.alloc(32, 7))),
  "a key that is too short": alterKey((key) => key.set(-2, Buffer.alloc(31, 1))),
  "a key without its second coordinate": alterKey((key) => key.delete(-3)),
  "a key of texts": alterKey((key) => key.set(-2, "x".repeat(32))),
  "a key without an algorithm": alterKey((key) => key.delete(3)),
  "an algorithm in a text": alterKey((key) => key.set(3, "-7")),
  "an elliptic key for RSA": alterKey((key) => key.set(3, -257)),
  "an Edwards key for ES256": { key: toCOSEKey(edward, -7) },
  "a key that is a list": { key: [1, 2] as never },
  "a credential id of no bytes": { data: (data) => withIdLength(data, 0) },
  "a credential id beyond the end": { data: (data) => withIdLength(data, 1023) },
};

function withIdLength(data: Buffer, length: number): Buffer {
  const changed = Buffer.from(data);
  changed.writeUInt16BE(length, 53);
  return changed;
}

interface Owner {
  readonly id: number;
  readonly email: string;
  readonly password: string;
  readonly factor: string;
  readonly authenticator: Authenticator;
}

async function addPasskey(api: API, name: string): Promise<Owner> {
  const { id, email, password } = await api.user(name);
  const { access } = (await api.post("/api/token/", { username: email, password })).json;
  const made = (await api.post(`/users/${id}/factors`, { kind: "passkey" }, bearer(access))).json;
  const authenticator = makeAuthenticator(origin);
  const credential = authenticator.register(made.options);
  const confirmed = await api.post(`/users/${id}/factors/${made.id}/confirm`, { credential }, bearer(access));
  assert.equal(confirmed.status, 200, confirmed.text);
  return { id, email, password, factor: made.id, authenticator };
}

function alterAnswer(original: Record<string, unknown>, { answer }: Case): unknown {
  return answer === undefined ? original : answer(original as unknown as Answer);
}

/** Logs in with the passkey alone. */
async function alone(api: API, { authenticator }: Owner, wrong: Case): Promise<Answered> {
  const { pending, ask } = (await api.post("/api/login/passkey/")).json;
  return api.post("/api/token/", { pending, credential: alterAnswer(authenticator.assert(ask, wrong), wrong) });
}

/** Logs in with the password, and with the passkey as the second factor. */
async function second(api: API, owner: Owner, wrong: Case): Promise<Answered> {
  const { email: username, password, factor, authenticator } = owner;
  const { login } = (await api.post("/api/token/", { username, password })).json;
  const credential = alterAnswer(authenticator.assert(login.factors[0].ask, wrong), wrong);
  return api.post("/api/login/", { pending: login.pending, factor, credential });
}

/**
 * Returns the expected status and code. A case of 20 kB is too large, because the body of a login has at most 16 KiB.
 */
function chooseProblem(name: string): readonly [number, string] {
  return name.endsWith("20 kB") ? [413, "content_too_large"] : [401, "invalid_credentials"];
}

/** Checks that no request caused a fault, and that the passkey still works. */
async function expectUnharmed(api: API, ann: Owner): Promise<void> {
  api.clock.turn(86_400);
  assert.equal((await alone(api, ann, {})).status, 200);
  assert.equal((await second(api, ann, {})).status, 200);
  assert.deepEqual(
    api.observed.filter(({ kind }) => kind === "fault"),
    [],
  );
}

async function makeAnn(t: TestContext): Promise<readonly [API, Owner]> {
  const api = await serve(t, { settings });
  return [api, await addPasskey(api, "Ann")];
}

test("refuses hostile answers to a login with a passkey alone", async (t) => {
  const [api, ann] = await makeAnn(t);
  for (const [name, wrong] of Object.entries({ ...everywhere, ...assertions })) {
    api.clock.turn(61);
    const { status, json } = await alone(api, ann, wrong);
    assert.deepEqual([status, json.code], chooseProblem(name), name);
  }
  await expectUnharmed(api, ann);
});

test("refuses hostile answers as a second factor", async (t) => {
  const [api, ann] = await makeAnn(t);
  for (const [name, wrong] of Object.entries({ ...everywhere, ...assertions })) {
    api.clock.turn(3000);
    const { status, json } = await second(api, ann, wrong);
    assert.deepEqual([status, json.code], chooseProblem(name), name);
  }
  await expectUnharmed(api, ann);
});

test("refuses hostile answers as a new passkey", async (t) => {
  const [api, ann] = await makeAnn(t);
  const { id, email: username, password } = await api.user("Bob");
  for (const [name, wrong] of Object.entries({ ...everywhere, ...registrations })) {
    api.clock.turn(3000);
    const { access } = (await api.post("/api/token/", { username, password })).json;
    const made = (await api.post(`/users/${id}/factors`, { kind: "passkey" }, bearer(access))).json;
    const credential = alterAnswer(makeAuthenticator(origin).register(made.options, wrong), wrong);
    const path = `/users/${id}/factors/${made.id}`;
    const { status, json } = await api.post(`${path}/confirm`, { credential }, bearer(access));
    const expected = chooseProblem(name)[0] === 413 ? [413, undefined] : [400, "/credential"];
    assert.deepEqual([status, json.errors?.[0].pointer], expected, name);
    assert.equal((await api.delete(path, bearer(access))).status, 204);
  }
  assert.deepEqual((await api.get(`/users/${id}/factors`, api.admin)).json, []);
  await expectUnharmed(api, ann);
});

test("refuses the answers of one ceremony, account or passkey for another", async (t) => {
  const [api, ann] = await makeAnn(t);
  const bob = await addPasskey(api, "Bob");
  const requestTokens = async ({ email: username, password }: Owner) =>
    (await api.post("/api/token/", { username, password })).json;
  const passing = async () => (await api.post("/api/login/passkey/")).json;
  const [annLogin, bobLogin] = [(await requestTokens(ann)).login, (await requestTokens(bob)).login];
  const session = (await api.post("/api/token/", await answered(ann, await passing()))).json;
  const confirming = (await api.post("/api/login/confirm/", undefined, bearer(session.access))).json;
  const annAnswer = ann.authenticator.assert(annLogin.factors[0].ask);
  const post = (body: object) => api.post("/api/login/", body);

  const one = await passing();
  const tries: Readonly<Record<string, Answered>> = {
    "Ann's answer in Bob's login": await post({ pending: bobLogin.pending, factor: bob.factor, credential: annAnswer }),
    "Ann's passkey in Bob's login": await post({
      pending: bobLogin.pending,
      factor: bob.factor,
      credential: ann.authenticator.assert(bobLogin.factors[0].ask),
    }),
    "Bob's id in Ann's answer": await post({
      pending: bobLogin.pending,
      factor: bob.factor,
      credential: {
        ...ann.authenticator.assert(bobLogin.factors[0].ask),
        id: bobLogin.factors[0].ask.allowCredentials[0].id,
      },
    }),
    "the answer of a login in a confirmation": await post({
      pending: confirming.pending,
      factor: ann.factor,
      credential: annAnswer,
    }),
    "the answer of a second factor in a login with a passkey alone": await api.post("/api/token/", {
      pending: one.pending,
      credential: annAnswer,
    }),
    "the answer of a login with a passkey alone as a second factor": await post({
      pending: annLogin.pending,
      factor: ann.factor,
      credential: ann.authenticator.assert(one.ask),
    }),
  };
  for (const [name, { status, json }] of Object.entries(tries))
    assert.deepEqual([status, json.code], [401, "invalid_credentials"], name);
  const named = await post({ pending: annLogin.pending, factor: bob.factor, credential: annAnswer });
  assert.deepEqual([named.status, named.json.errors[0].pointer], [400, "/factor"]);
  // A login with a passkey alone accepts no `pending` of a waiting login. A waiting login accepts no `pending` of a
  // passkey alone.
  for (const pending of [annLogin.pending, confirming.pending])
    assert.equal((await api.post("/api/token/", { pending, credential: annAnswer })).json.code, "login_expired");
  const wrongPlace = await post({ pending: (await passing()).pending, factor: ann.factor, credential: annAnswer });
  assert.equal(wrongPlace.json.code, "login_expired");
  await expectUnharmed(api, ann);
});

async function answered({ authenticator }: Owner, { pending, ask }: { pending: string; ask: never }) {
  return { pending, credential: authenticator.assert(ask) };
}

test("refuses a new passkey for another challenge, and one with the id of another user's passkey", async (t) => {
  const [api, ann] = await makeAnn(t);
  const { id, email: username, password } = await api.user("Bob");
  const { access } = (await api.post("/api/token/", { username, password })).json;
  const add = async () => (await api.post(`/users/${id}/factors`, { kind: "passkey" }, bearer(access))).json;
  const confirm = (factor: string, credential: unknown) =>
    api.post(`/users/${id}/factors/${factor}/confirm`, { credential }, bearer(access));
  const [one, other] = [await add(), await add()];
  const own = makeAuthenticator(origin);
  const { ask } = (await api.post("/api/login/passkey/")).json;
  const annsHandle = (ann.authenticator.assert(ask)["response"] as { readonly userHandle: string }).userHandle;

  const tries = [
    await confirm(other.id, own.register(one.options)),
    await confirm(one.id, ann.authenticator.register(one.options)),
    await confirm(one.id, own.assert({ challenge: one.options.challenge, rpId: "example.com" })),
  ];
  for (const { status, json } of tries)
    assert.deepEqual([status, json.errors?.[0].pointer], [400, "/credential"], JSON.stringify(json));
  assert.equal((await confirm(one.id, own.register(one.options))).status, 200);
  // Ann's authenticator has registered for Bob above, so it now sends Bob's user handle. The service has not changed
  // Ann's passkey.
  assert.equal((await alone(api, ann, { userHandle: annsHandle })).status, 200);
});

test("accepts a challenge of a new passkey for five minutes", async (t) => {
  const api = await serve(t, { settings });
  const { id, email: username, password } = await api.user("Bob");
  const { access } = (await api.post("/api/token/", { username, password })).json;
  const made = (await api.post(`/users/${id}/factors`, { kind: "passkey" }, bearer(access))).json;
  api.clock.turn(299);
  const fresh = (await api.post("/api/token/", { username, password })).json;
  const confirm = () =>
    api.post(
      `/users/${id}/factors/${made.id}/confirm`,
      { credential: makeAuthenticator(origin).register(made.options) },
      bearer(fresh.access),
    );
  api.clock.turn(1);
  assert.equal((await confirm()).status, 400);
  api.clock.turn(-1);
  assert.equal((await confirm()).status, 200);
  assert.equal((await confirm()).status, 401);
});
