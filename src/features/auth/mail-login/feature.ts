import type { LoginThrottle } from "../../../access/throttle/throttle.ts";
import { problem } from "../../../core/problem/problem.ts";
import { defineFeature, type Feature } from "../../../feature/feature.ts";
import { builtInEndpoint, type Endpoint } from "../../../http/declarations/endpoint.ts";
import { defineResponse } from "../../../http/declarations/response.ts";
import { invalid, type Context } from "../../../http/request/exchange.ts";
import { text } from "../../../resource/kinds/fields.ts";
import type { FirstProofBody, FirstStep } from "../gate/contract.ts";
import { mailEndpoint } from "../mailbox/asking.ts";
import type { GivenProof, Mailbox, Purpose } from "../mailbox/contract.ts";
import type { AccountsContract } from "../people/contracts/accounts.ts";
import type { ChangingContract } from "../people/contracts/changing.ts";
import type { AccountsFeature } from "../people/people.ts";

/**
 * Users log in with a code or a link that they get by mail: `POST /api/login/code/`, then `POST /api/session/` or
 * `POST /api/token/` with `{email, code}` or `{token}`. The mail counts as one proof. If the account has a second
 * factor, the login asks for it too.
 *
 * @example
 * ```ts
 * import { accounts, sessionLogin } from "latchkey";
 * import { mailbox, mailLogin } from "latchkey/auth";
 * import { mail, mailFiles, outbox } from "latchkey/features";
 *
 * const people = accounts();
 * const events = outbox();
 * const from = "no-reply@example.com";
 * const mails = mail(events, { send: mailFiles("mails"), from, publicURL: "https://example.com" });
 * const box = mailbox(people, mails);
 * export const features = [people, sessionLogin(people), events, mails, box, mailLogin(people, box)];
 * ```
 */
export function mailLogin(people: AccountsFeature, box: Feature<Mailbox>): Feature {
  return defineFeature({
    name: "mail-login",
    needs: [people, box],
    setUp(host) {
      const { accounts, logins, changing } = host.use(people);
      const purpose = host.use(box).purpose({
        name: "login",
        linkSeconds: 1800,
        codes: true,
        template: "login_code",
        path: "login",
      });
      const parts = { accounts, changing, throttle: host.throttle, purpose };
      const proving = (context: Context, givenProof: GivenProof) => prove(parts, context, givenProof);
      logins.registerFirstProof({
        members: ["token"],
        prove: (context, { token }: FirstProofBody) => proving(context, { token: token! }),
      });
      logins.registerFirstProof({
        members: ["email", "code"],
        prove: (context, { email, code }: FirstProofBody) => proving(context, { email: email!, code: code! }),
      });
      const summary = "Send a mail with a code and a link to log in";
      return {
        offer: null,
        endpoints: [
          mailEndpoint({ path: PATH, summary, tag: "session", users: accounts.users, purpose, host }),
          linkEndpoint(purpose),
        ],
      };
    },
  });
}

const PATH = "/api/login/code/";

const mailLink = defineResponse({ name: "mail_link", fields: { email: text() } });

/**
 * Returns the endpoint that shows for whom a link is, so that a page can ask before it logs in. Another person may have
 * sent the link. It does not use the link up.
 */
function linkEndpoint(purpose: Purpose): Endpoint {
  return builtInEndpoint({
    method: "GET",
    path: PATH,
    access: "open",
    logsIn: true,
    query: "secret",
    documentation: {
      summary: "Show the masked address of a link to log in",
      tag: "session",
      responses: {
        200: {
          description: "The link is valid. The address is masked.",
        },
      },
      problems: ["invalid_link", "invalid_query", "insecure_transport"],
    },
    responses: { 200: mailLink },
    async handle(context) {
      const parameters = context.parameters();
      const unknown = parameters.flatMap(([name]) =>
        name === "token"
          ? []
          : [{ pointer: `?${name}`, code: "unknown_parameter", detail: "There is no such parameter." }],
      );
      if (unknown.length > 0) throw invalid(unknown);
      const [token, ...others] = parameters;
      const proof = token === undefined || others.length > 0 ? null : await purpose.find(context, { token: token[1] });
      if (proof === null) throw problem("invalid_link");
      return mailLink.reply(200, { email: maskAddress(proof.address) }, { cache: "no-store" });
    },
  });
}

/** Returns an address with its first character and its domain only: `a•••@example.com`. */
function maskAddress(address: string): string {
  return `${address.slice(0, 1)}•••${address.slice(address.lastIndexOf("@"))}`;
}

interface MailLoginParts {
  readonly accounts: Pick<AccountsContract, "find">;
  readonly changing: Pick<ChangingContract, "proveAddress">;
  readonly throttle: LoginThrottle;
  readonly purpose: Purpose;
}

/**
 * Checks the first proof by mail and uses it up. Ends the request with 401 if it is wrong, used or expired. If a caller
 * chose the address and no one has proved it yet, another person may have created the account. The first proof then
 * ends all other logins and credentials of the account, before a factor is asked for.
 */
async function prove(
  { accounts, changing, throttle, purpose }: MailLoginParts,
  context: Context,
  givenProof: GivenProof,
): Promise<FirstStep> {
  const { call } = context;
  await throttle.check(call);
  const proof = await purpose.find(context, givenProof);
  const account = proof?.user ?? null;
  if (proof === null || account === null) {
    await throttle.fail(call);
    throw refused(context);
  }
  const changes = [...proof.changes, ...(await changing.proveAddress(account, call.now))];
  if ((await context.write({ changes })).kind !== "written") throw refused(context);
  const proved = await accounts.find(account.id);
  if (proved === null) throw refused(context);
  return { account: proved, proofs: [{ method: "mail", at: call.now }] };
}

function refused({ call: { realm } }: Context): Error {
  return problem("invalid_credentials", { headers: [["WWW-Authenticate", `Session realm="${realm}"`]] });
}
