import { authenticated } from "../../../access/permission/permission.ts";
import type { Reply } from "../../../core/call/call.ts";
import { Problem, problem } from "../../../core/problem/problem.ts";
import { prefersAny } from "../../../http/answer/choosing-format.ts";
import { textSchema } from "../../../http/declarations/documentation.ts";
import { builtInEndpoint, type Endpoint, type EndpointDocumentation } from "../../../http/declarations/endpoint.ts";
import { defineResponse } from "../../../http/declarations/response.ts";
import { formType } from "../../../http/formats/form.ts";
import { requireDraft } from "../../../http/mount/writes/drafting.ts";
import type { Context } from "../../../http/request/exchange.ts";
import { dateTime, enumeration, json, text } from "../../../resource/kinds/fields.ts";
import { defineResource } from "../../../resource/resource.ts";
import type { JSONValue } from "../../../store/store.ts";
import type { GateParts } from "../gate/parts.ts";
import { loginTypes, MAX_LOGIN_BODY_BYTES } from "../people/credentials.ts";
import { codeField } from "../requests/codes.ts";
import { setHostCookie } from "../requests/cookies.ts";
import { wayBack } from "../requests/way-back.ts";
import {
  confirmsByMail,
  describe,
  type LoginObject,
  needsEnrolment,
  needsMail,
  resolvePlace,
  stillNeeded,
} from "./asking.ts";
import { complete, requirePending } from "./completing.ts";
import { enrol } from "./enrolling.ts";
import { redirectToFactorPage } from "./factor-page.ts";

const path = "/api/login/";

const pendingField = text({
  maxLength: 100,
  optional: true,
  description: "Identifies the login. Not needed if a cookie identifies it.",
});
const nextField = text({ maxLength: 2048, optional: true });

const completion = defineResource({
  name: "completion",
  fields: {
    pending: pendingField,
    factor: text({ maxLength: 100, description: "The id of a factor of the login, `recovery`, `mail` or `password`." }),
    code: codeField("A code of a TOTP app, a code from a mail, or a recovery code."),
    credential: json({
      optional: true,
      description: "The answer of a passkey (RegistrationResponseJSON or AuthenticationResponseJSON).",
    }),
    password: text({
      maxLength: 4096,
      trim: false,
      optional: true,
      description: "The password, for the factor `password`.",
    }),
    next: nextField,
    again: text({
      maxLength: 12_000,
      optional: true,
      description: "The form that a page sends after the confirmation.",
    }),
  },
});

const newFactor = defineResource({
  name: "new_factor",
  plural: "new_factors",
  fields: {
    pending: pendingField,
    kind: text({ maxLength: 40, description: "`totp` or `passkey`." }),
    label: text({ maxLength: 100, optional: true }),
    next: nextField,
  },
});

/** Returns the endpoints that complete a login that waits for another proof, and that confirm an existing login. */
export function gateEndpoints(parts: GateParts): readonly Endpoint[] {
  const open = {
    access: "open",
    logsIn: true,
    consumes: loginTypes,
    maxBodyBytes: MAX_LOGIN_BODY_BYTES,
  } as const;
  return [
    builtInEndpoint({
      method: "GET",
      path,
      access: "open",
      logsIn: true,
      documentation: documentation.show,
      responses: { 200: waitingLogin },
      handle: (context) => show(parts, context),
    }),
    builtInEndpoint({
      ...open,
      method: "POST",
      path,
      documentation: documentation.complete,
      guard: fromOwnPage,
      handle: (context) => completeLogin(parts, context),
    }),
    builtInEndpoint({
      ...open,
      method: "POST",
      path: `${path}factors/`,
      documentation: documentation.enrol,
      responses: { 201: newFactorShape },
      guard: fromOwnPage,
      handle: (context) => startFactor(parts, context),
    }),
    builtInEndpoint({
      method: "POST",
      path: `${path}confirm/`,
      access: authenticated,
      logsIn: true,
      bodyOptional: true,
      consumes: loginTypes,
      maxBodyBytes: MAX_LOGIN_BODY_BYTES,
      documentation: documentation.confirm,
      responses: { 200: waitingLogin },
      handle: (context) => startConfirmation(parts, context),
    }),
  ];
}

/**
 * Ends the request if a page of another site sent it, because any site can make a browser send a form. It runs before
 * the body is read, so it refuses JSON too.
 */
function fromOwnPage(context: Context): void {
  context.requireSameSite();
}

async function show(parts: GateParts, context: Context) {
  const { login, account } = await requirePending(parts, context, null);
  return waiting(await describe(parts, context, account, login));
}

async function completeLogin(parts: GateParts, context: Context): Promise<Reply> {
  const { pending, factor, code, credential, password, next, again } = requireDraft(
    completion,
    context,
    noRecord,
  ).values;
  const answer = { pending, factor, code, credential: credential as JSONValue, password };
  const isForm = context.body?.mediaType === formType;
  if (!isForm || again !== null || !prefersAny(context, ["text/html"])) return complete(parts, context, answer);
  // A browser that sent a form continues on the page that `next` names.
  const location = wayBack(context, next);
  try {
    const reply = await complete(parts, context, answer);
    if (showsCodes(reply)) return reply;
    const { body: _, ...rest } = reply;
    return { ...rest, status: 303, headers: [...(reply.headers ?? []), ["Location", location]] };
  } catch (error) {
    if (!(error instanceof Problem) || !(await waitsForFactor(parts, context, pending))) throw error;
    const wrong = error.code === "invalid_credentials" ? ({ wrong: "code" } as const) : {};
    const way = factor === "recovery" ? ({ way: "recovery" } as const) : {};
    return redirectToFactorPage(context, parts.factorPage(), error, { next: location, ...way, ...wrong });
  }
}

/**
 * Returns true if the request's login is not complete and waits. The page of a confirmation is the response of its
 * form.
 */
async function waitsForFactor(parts: GateParts, context: Context, pending: string | null): Promise<boolean> {
  try {
    return (await requirePending(parts, context, pending)).login.purpose === "login";
  } catch (error) {
    if (error instanceof Problem) return false;
    throw error;
  }
}

/**
 * True if the response shows recovery codes. They are shown only once, so the response to a form must be a page with
 * them and not a redirect.
 */
function showsCodes({ body }: Reply): boolean {
  return (
    body?.kind === "data" && typeof body.value === "object" && body.value !== null && "recovery_codes" in body.value
  );
}

async function startFactor(parts: GateParts, context: Context) {
  const { pending, kind, label } = requireDraft(newFactor, context, noRecord).values;
  const { name, login, account } = await requirePending(parts, context, pending);
  if (await needsMail(parts, account, login))
    throw await stillNeeded(parts, context, { account, name, login, carriedIn: resolvePlace(parts, login) });
  if (login.purpose !== "login" || !needsEnrolment(parts, account))
    throw problem("permission_denied", { detail: "This login waits for a factor that the account has." });
  const value = await enrol(parts, context.call, account, { kind, label, pending: login.key, isHeld: false });
  return newFactorShape.reply(201, value, { cache: "no-store" });
}

async function startConfirmation(parts: GateParts, context: Context) {
  const identity = context.requireIdentity();
  const account = await parts.accounts.find(identity.id);
  if (account === null) throw problem("not_found");
  for (const beginning of parts.gate.beginnings.values()) {
    const current = identity.actor === undefined ? (beginning.current?.(context) ?? null) : null;
    if (current === null || beginning.renew === undefined) continue;
    const { name, login } = await parts.pending.create(
      account,
      {
        purpose: "confirm",
        proofs: identity.proofs ?? [],
        beginning: beginning.name,
        options: current.options,
        holder: current.id,
      },
      context.call,
    );
    const described = await describe(parts, context, account, login);
    if (described.factors.length === 0) {
      await parts.store.write({ changes: parts.pending.end(login) });
      throw problem("no_proof");
    }
    if (await confirmsByMail(parts, account, login)) await parts.gate.mail.step?.send(context, account, "confirmation");
    if (beginning.carriedIn(current.options) === "text") return waiting({ pending: name, ...described });
    return { ...waiting(described), headers: [setHostCookie(context.call, parts.cookie, name, login.expiresAt)] };
  }
  throw problem("permission_denied", {
    detail: "This credential cannot be confirmed. Log in with a session or a token pair.",
  });
}

function waiting(value: LoginObject & { readonly pending?: string }) {
  return waitingLogin.reply(200, value, { cache: "no-store" });
}

const noRecord = { id: null, current: null } as const;

const factorsSchema = {
  type: "array",
  items: {
    type: "object",
    properties: { id: textSchema, kind: textSchema, label: textSchema },
    required: ["id", "kind"],
  },
} as const;

const waitingLogin = defineResponse({
  name: "login",
  fields: {
    pending: text({ description: "Identifies the login at `POST /api/login/`. Missing if a cookie identifies it." }),
    needs: enumeration(["factor", "enrolment"]),
    expires_at: dateTime(),
    factors: factorsSchema,
  },
  optional: ["pending"],
});
const newFactorShape = defineResponse({ name: "factor", fields: { id: text(), kind: text() } });
const emptyToken = defineResponse({ name: "token", fields: {} });
const emptySession = defineResponse({ name: "session", fields: {} });

const documentation = {
  show: {
    summary: "Show the login that waits for a second factor",
    tag: "factors",
    responses: {
      200: { description: "The factors of the login, and the data that an answer needs." },
    },
    problems: ["login_expired", "cross_site"],
  },
  complete: {
    summary: "Complete a login with a second factor",
    tag: "factors",
    request: completion,
    responses: {
      200: {
        description: "The login is complete: the tokens that the first request asked for.",
        schema: emptyToken.schema,
      },
      201: { description: "The login is complete, with a session cookie.", schema: emptySession.schema },
      303: {
        description: "The login of a page is complete, or the page asks for the next factor or another code.",
        headers: { Location: "A path of this service." },
      },
    },
    problems: ["invalid_credentials", "login_expired", "factor_required", "cross_site", "too_many_attempts"],
  },
  enrol: {
    summary: "Start a second factor while logging in",
    tag: "factors",
    request: newFactor,
    responses: {
      201: {
        description: "The factor. It is active when `POST /api/login/` has confirmed it.",
      },
    },
    problems: ["login_expired", "factor_required", "cross_site", "permission_denied", "too_many"],
  },
  confirm: {
    summary: "Start to confirm who is calling",
    tag: "factors",
    responses: { 200: { description: "The data for `POST /api/login/`." } },
    problems: ["no_proof", "permission_denied"],
  },
} satisfies Record<string, EndpointDocumentation>;
