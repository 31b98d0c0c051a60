import { anyone } from "../../../access/permission/permission.ts";
import type { Reply } from "../../../core/call/call.ts";
import { findOwnPath } from "../../../core/html/link.ts";
import { problem } from "../../../core/problem/problem.ts";
import { prefersRedirect } from "../../../http/answer/choosing-format.ts";
import { builtInEndpoint, type Endpoint } from "../../../http/declarations/endpoint.ts";
import type { Mount } from "../../../http/declarations/mount.ts";
import { defineResponse } from "../../../http/declarations/response.ts";
import { idOf, showFor } from "../../../http/mount/writes/creating-for.ts";
import { requireDraft } from "../../../http/mount/writes/drafting.ts";
import type { BodyShape } from "../../../http/request/body-shape.ts";
import { invalid, type Context } from "../../../http/request/exchange.ts";
import { boolean, text } from "../../../resource/kinds/fields.ts";
import { defineResource } from "../../../resource/resource.ts";
import { nextField, openPost, redirect, requireOwnForm } from "../mailbox/asking.ts";
import { ownPassword } from "../requests/fresh-login.ts";
import { acceptAsCaller, acceptAsNewcomer, type Joined } from "./accepting.ts";
import { openLink } from "./opening.ts";
import type { InvitingParts } from "./parts.ts";

/** The path of the call that accepts an invitation. */
export const ACCEPT_PATH = "/api/invitations/accept/";

const acceptance = defineResource({
  name: "acceptance",
  fields: {
    token: text({ maxLength: 2048, description: "The token from the link in the mail." }),
    name: text({ maxLength: 200, optional: true, description: "For a new account: the name of the user." }),
    password: text({
      ...ownPassword,
      minLength: 8,
      description: "For a new account: the password of the user.",
    }),
    next: nextField,
  },
});

const opened = defineResponse({
  name: "invitation",
  fields: {
    sender: text({ description: "The name of the user who sent the invitation." }),
    group: text({ description: "The name of the group." }),
    email: text({ description: "The invited address." }),
    account: boolean({ description: "True if an account has the address. Its user logs in to accept." }),
    yours: boolean({ description: "True if the caller is logged in with the address." }),
  },
});

// A session of a user accepts an invitation, and a new user ignores every credential. So a rejected credential does not
// end the request.
const open = { access: anyone, refusals: "reported", logsIn: true } as const;

/** Returns the endpoints of a link: one shows whose invitation it is, and one accepts it. */
export function acceptEndpoints(parts: InvitingParts, mounts: readonly Mount[]): readonly Endpoint[] {
  const schema: BodyShape = mounts.length === 1 ? mounts[0]!.resource : { type: "object" };
  return [
    builtInEndpoint({
      ...open,
      method: "GET",
      path: ACCEPT_PATH,
      query: "secret",
      documentation: {
        summary: "Show the invitation of a link",
        tag: "invitations",
        responses: { 200: { description: "The link is valid." } },
        problems: ["invalid_link", "invalid_query"],
      },
      responses: { 200: opened },
      async handle(context) {
        const invitation = await openLink(parts, context, readToken(context));
        if (invitation === null) throw problem("invalid_link");
        return opened.reply(200, { ...invitation }, { cache: "no-store" });
      },
    }),
    builtInEndpoint({
      ...openPost,
      ...open,
      path: ACCEPT_PATH,
      documentation: {
        summary: "Accept an invitation with the link of a mail",
        tag: "invitations",
        request: acceptance,
        responses: {
          200: { description: "The caller is a member already. Nothing changes.", schema },
          201: { description: "The new membership.", schema, headers: { Location: "The path of the membership." } },
          204: { description: "The caller is a member already, and may not read the membership." },
          303: {
            description: "The same for a form of a page: redirects to the next page.",
            headers: { Location: "A path of this service." },
          },
        },
        problems: [
          "invalid_link",
          "taken",
          "conflict",
          "cross_site",
          "not_authenticated",
          "permission_denied",
          "too_many_attempts",
        ],
      },
      handle: (context) => accept(parts, context),
    }),
  ];
}

/** Returns the token in the query. Empty if there is none. Ends the request (400) for any other parameter. */
function readToken(context: Context): string {
  const parameters = context.parameters();
  const unknown = parameters.filter(([name], at) => name !== "token" || at > 0);
  if (unknown.length > 0)
    throw invalid(
      unknown.map(([name]) => ({
        pointer: `?${name}`,
        code: "unknown_parameter",
        detail: "There is no such parameter, or it was sent twice.",
      })),
    );
  const [sent] = parameters;
  return sent === undefined ? "" : sent[1];
}

async function accept(parts: InvitingParts, context: Context): Promise<Reply> {
  const { values, transient } = requireDraft(acceptance, context, { id: null, current: null });
  requireOwnForm(context, parts.ownOrigins);
  const { token, name, next } = values;
  const { password } = transient;
  if (name === null && password === undefined) {
    const joined = await acceptAsCaller(parts, context, token);
    return reply(context, joined, findOwnPath(next, context.call.client.origin) ?? joinedPath(context, joined));
  }
  if (name === null) throw required("name");
  if (password === undefined) throw required("password");
  const joined = await acceptAsNewcomer(parts, context, token, { name, password });
  return reply(context, joined, loginPath(parts, context, joined));
}

function required(name: string): Error {
  return invalid([{ pointer: `/${name}`, code: "required", detail: "A new account needs a name and a password." }]);
}

async function reply(context: Context, { status, row, member, invited, params }: Joined, next: string): Promise<Reply> {
  if (prefersRedirect(context)) return redirect(next);
  const { headers = [], ...shown } = await showFor(invited.mount, context, { identity: member, params }, row);
  if (status === 200) return { ...shown, headers, cache: "no-store" };
  const location = ["Location", memberPath(context, { row, invited, params })] as const;
  return { ...shown, status, cache: "no-store", headers: [...headers, location] };
}

/** Returns the path of a membership. */
function memberPath(context: Context, { row, invited, params }: Pick<Joined, "row" | "invited" | "params">): string {
  const { path } = invited.mount.resource;
  const collection = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])));
  return context.at(`${collection}/${encodeURIComponent(String(idOf(row)))}`);
}

/** Returns the page after an acceptance: the membership, if its mount shows single records. */
function joinedPath(context: Context, joined: Joined): string {
  return joined.invited.mount.permissions.read === undefined ? context.at("/") : memberPath(context, joined);
}

/** Returns the page after a new account: its login, which leads to the membership. */
function loginPath({ service }: InvitingParts, context: Context, joined: Joined): string {
  const { pages } = service();
  const next = joinedPath(context, joined);
  return pages === null ? next : `${context.at(pages.login)}?${new URLSearchParams({ next }).toString()}`;
}
