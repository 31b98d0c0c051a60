import type { People } from "../../door/auth.ts";
import { defineResponse, type Endpoint } from "../../door/http.ts";
import { authenticated, defineEndpoint, integer, text, type Context } from "../../door/index.ts";
import { ifNoneMatch, notModified, userSchema } from "./descriptions.ts";

/** `GET /protected/`: the specification's example of a resource that needs credentials, for any scheme. */
export function protectedEndpoint(people: People): Endpoint {
  return defineEndpoint({
    method: "GET",
    path: "/protected/",
    access: authenticated,
    documentation: {
      summary: "Ask who you are",
      tag: "protected",
      parameters: [ifNoneMatch],
      responses: {
        200: {
          description: "The caller, under any scheme.",
          headers: { ETag: "The tag of the current state." },
        },
        304: notModified,
      },
    },
    responses: { 200: greeting },
    handle: (context) => greet(people, context),
  });
}

const greeting = defineResponse({
  name: "protected",
  fields: {
    message: text(),
    user: userSchema,
    username: text(),
    scheme: text(),
    acting: defineResponse({
      name: "acting",
      description: "The administrator who acts for this user. Missing if there is none.",
      fields: { id: integer(), username: text() },
    }),
  },
  optional: ["acting"],
});

async function greet(people: People, context: Context) {
  const identity = context.requireIdentity();
  const { id, username, scheme, actor } = identity;
  const [user, account] = await Promise.all([people.accounts.requireUser(id, identity), people.accounts.find(id)]);
  // A token may still contain the previous name.
  const name = account?.username ?? username;
  return greeting.reply(200, {
    message: `Hello, ${user.name}.`,
    user,
    username: name,
    scheme,
    ...(actor === undefined ? {} : { acting: actor }),
  });
}
