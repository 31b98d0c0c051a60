import { authenticated } from "../../../access/permission/permission.ts";
import { textSchema, type JSONSchema } from "../../../http/declarations/documentation.ts";
import { builtInEndpoint, type Endpoint } from "../../../http/declarations/endpoint.ts";
import type { Mount } from "../../../http/declarations/mount.ts";
import { defineResponse, listOf } from "../../../http/declarations/response.ts";
import type { Context } from "../../../http/request/exchange.ts";
import { dateTime, integer, json, text } from "../../../resource/kinds/fields.ts";
import type { Resource } from "../../../resource/resource.ts";
import { endOpen, listOpen } from "./listing.ts";
import { findInvitedMount, type InvitedMount, type InvitingParts } from "./parts.ts";
import { emailField, sendInvitation } from "./sending.ts";

const TAG = "invitations";

const sent = defineResponse({ name: "invitation", fields: {} });

const listed = listOf(
  defineResponse({
    name: "invitation",
    fields: {
      id: text(),
      email: text({ description: "The invited address." }),
      fields: json({ description: "The fields of the membership that the caller may read." }),
      sender: integer({ description: "The id of the user who sent it." }),
      expires_at: dateTime(),
    },
  }),
  "invitations",
);

/** Returns the endpoints that send, list and end the invitations of one mount of memberships. */
export function membershipEndpoints(parts: InvitingParts, mount: Mount): readonly Endpoint[] {
  const path = `${typedPath(mount.resource)}/invitations`;
  const { resource, collection } = mount;
  const find = (): InvitedMount => findInvitedMount(parts, collection.name)!;
  const isNested = resource.within !== null;
  const group = mount.invitations!.group;
  return [
    builtInEndpoint({
      method: "POST",
      takesForms: true,
      path,
      access: authenticated,
      consumes: ["application/json"],
      documentation: {
        summary: `Invite a person by mail to ${resource.plural}`,
        tag: TAG,
        request: invitedResource(mount),
        responses: {
          202: { description: "The same answer for every address. A mail is on its way, if it may be sent." },
        },
        problems: ["confirmation_required", "too_many"],
      },
      responses: { 202: sent },
      async handle(context: Context) {
        await sendInvitation(parts, context, find());
        return sent.reply(202, {}, { cache: "no-store" });
      },
    }),
    builtInEndpoint({
      method: "GET",
      path,
      access: authenticated,
      query: "read",
      documentation: {
        summary: `List the open invitations to ${resource.plural}`,
        tag: TAG,
        ...(isNested
          ? {}
          : {
              parameters: [
                {
                  name: group,
                  in: "query",
                  description: "Only the invitations to this group.",
                  schema: groupSchema(mount),
                },
              ],
            }),
        responses: { 200: { description: "Those whose memberships the caller may create, oldest first." } },
        problems: ["invalid_query"],
      },
      responses: { 200: listed },
      handle: async (context: Context) =>
        listed.reply(200, await listOpen(parts, context, find()), { cache: "no-store" }),
    }),
    builtInEndpoint({
      method: "DELETE",
      takesForms: true,
      path: `${path}/{invitation:text}`,
      access: authenticated,
      documentation: {
        summary: `End an open invitation to ${resource.plural}`,
        tag: TAG,
        responses: { 204: { description: "Its link is no longer valid." } },
        problems: ["not_found"],
      },
      responses: { 204: null },
      async handle(context: Context) {
        await endOpen(parts, context, find());
        return { status: 204 };
      },
    }),
  ];
}

/** Returns the body of an invitation: the fields of the membership, with the address in place of the user. */
function invitedResource({ resource, invitations }: Mount): Resource {
  const { [invitations!.user]: _, ...fields } = resource.fields;
  return { ...resource, name: "invitation", fields: { email: emailField, ...fields } };
}

function groupSchema({ collection, invitations }: Mount): JSONSchema {
  const column = collection.columns.find(({ name }) => name === invitations!.group);
  return column?.type === "integer" ? { type: "integer", minimum: 1 } : textSchema;
}

/** Returns the path of a resource with the types of the ids in it, because the endpoint belongs to no mount. */
function typedPath({ path, within, parentColumn }: Resource): string {
  if (within === null || parentColumn === null) return path;
  const type = within.id === "integer" ? "" : `:${within.id}`;
  return `${typedPath(within)}${path.slice(within.path.length).replace(`{${parentColumn}}`, `{${parentColumn}${type}}`)}`;
}
