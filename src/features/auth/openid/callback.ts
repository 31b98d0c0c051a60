import type { Call, Reply } from "../../../core/call/call.ts";
import { formatNetwork } from "../../../core/call/trusted-proxies.ts";
import { after } from "../../../core/eventually.ts";
import { Problem } from "../../../core/problem/problem.ts";
import type { Context } from "../../../http/request/exchange.ts";
import type { Header } from "../requests/cookies.ts";
import { ProviderFault, type ConfirmedLogin, type ProviderClient } from "./client.ts";
import { confirmLogin, proofBy } from "./confirming.ts";
import type { Flow } from "./flows.ts";
import { requireLinkedAccount } from "./identity-accounts.ts";
import { linkIdentity } from "./linking.ts";
import { redirect, refusal, type ProviderLoginParts } from "./parts.ts";

/**
 * Receives the answer of a provider. A failure counts as a wrong credential of its address, because each try is a
 * request to the provider.
 */
export async function callback(parts: ProviderLoginParts, context: Context, client: ProviderClient): Promise<Reply> {
  const { call } = context;
  const { throttle } = parts;
  const subject = formatNetwork(call.client.address);
  const room = () => after(throttle.check(call), (left) => [{ subject, left: () => left }]);
  return parts.sideBySide(room, async () => {
    try {
      return await receive(parts, context, client);
    } catch (error) {
      if (error instanceof Problem && failures.has(error.code)) await throttle.fail(call);
      throw error;
    }
  });
}

/** The problems of a callback that count as wrong credentials. */
const failures: ReadonlySet<string> = new Set(["login_failed", "identity_not_bound"]);

async function receive(parts: ProviderLoginParts, context: Context, client: ProviderClient): Promise<Reply> {
  const { id } = client.provider;
  const { call } = context;
  const query = new URLSearchParams(context.parameters().map(([name, value]) => [name, value]));
  const [state = "", ...more] = query.getAll("state");
  const flow = more.length === 0 ? parts.flows.find(call, state) : null;
  if (flow === null || flow.provider !== id) throw refusal(parts, call, id, "this browser has not started it", []);
  const header = parts.flows.without(call, flow);
  const confirmed = await requireConfirmed(parts, client, { call, query, flow, header });
  const { purpose } = flow;
  switch (purpose.kind) {
    case "login":
      return logIn(parts, context, client, { flow, confirmed, header });
    case "link":
      await linkIdentity(parts, client.provider, { context, link: purpose, confirmed, header });
      return redirect(flow.next, [header]);
    case "confirm": {
      const { headers = [] } = await confirmLogin(parts, client.provider, { context, purpose, confirmed, header });
      return redirect(flow.next, [...headers, header]);
    }
  }
}

/**
 * Exchanges the answer of the provider for the claims of its user. Ends the request (401 `login_failed`) if it confirms
 * no login.
 */
async function requireConfirmed(
  parts: ProviderLoginParts,
  client: ProviderClient,
  answer: { readonly call: Call; readonly query: URLSearchParams; readonly flow: Flow; readonly header: Header },
): Promise<ConfirmedLogin> {
  const { call, query, flow, header } = answer;
  const { id } = client.provider;
  if (!(await parts.flows.use(flow))) throw refusal(parts, call, id, "it was completed before", [header]);
  try {
    return await client.redeem(query, flow, parts.flows.deriveProof(flow), call.now);
  } catch (error) {
    if (!(error instanceof ProviderFault)) throw error;
    throw refusal(parts, call, id, error.message, [header]);
  }
}

async function logIn(
  parts: ProviderLoginParts,
  context: Context,
  { provider }: ProviderClient,
  { flow, confirmed, header }: { readonly flow: Flow; readonly confirmed: ConfirmedLogin; readonly header: Header },
): Promise<Reply> {
  const { call } = context;
  const { account, identity } = await findAccount(parts, provider, confirmed, call, header);
  if (!account.active) throw refusal(parts, call, provider.id, `the account ${account.id} is not active`, [header]);
  const proof = proofBy(provider, identity, confirmed.claims);
  try {
    const { begin } = parts;
    const reply = await parts.logins.beginLogin(context, { account, proofs: [proof], begin, options: {} });
    return redirect(flow.next, [...(reply.headers ?? []), header]);
  } catch (error) {
    const page = parts.factorPage();
    if (!(error instanceof Problem) || error.code !== "factor_required" || page === null) throw error;
    const cookies = error.headers.filter(([name]) => name === "Set-Cookie");
    return redirect(`${context.at(page)}?next=${encodeURIComponent(flow.next)}`, [...cookies, header]);
  }
}

async function findAccount(
  parts: ProviderLoginParts,
  provider: ProviderClient["provider"],
  confirmed: ConfirmedLogin,
  call: Call,
  header: Header,
) {
  try {
    return await requireLinkedAccount(parts, provider, confirmed, { call, headers: [header] });
  } catch (error) {
    // The userinfo endpoint did not answer, or it named another user.
    if (error instanceof ProviderFault) throw refusal(parts, call, provider.id, error.message, [header]);
    throw error;
  }
}
