import type { People } from "../../door/auth.ts";
import type { Endpoint, Reply } from "../../door/http.ts";
import { authenticated, defineEndpoint, type Context } from "../../door/index.ts";
import { ifNoneMatch, notModified, objectSchema, textSchema, userSchema } from "./descriptions.ts";

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
          schema: objectSchema(
            "protected",
            {
              message: textSchema,
              user: userSchema,
              username: textSchema,
              scheme: textSchema,
              acting: actorSchema,
            },
            ["acting"],
          ),
          headers: { ETag: "The tag of the current state." },
        },
        304: notModified,
      },
    },
    handle: (context) => greet(people, context),
  });
}

const actorSchema = {
  ...objectSchema("acting", { id: { type: "integer" }, username: textSchema }),
  description: "The administrator who acts for this user. Missing if there is none.",
};

async function greet(people: People, context: Context): Promise<Reply> {
  const { id, username, scheme, actor } = context.requireIdentity();
  const [user, account] = await Promise.all([people.accounts.requireUser(id), people.accounts.find(id)]);
  // A token may still contain the previous name.
  const name = account?.username ?? username;
  return {
    status: 200,
    body: {
      kind: "data",
      value: {
        message: `Hello, ${user.name}.`,
        user,
        username: name,
        scheme,
        ...(actor === undefined ? {} : { acting: actor }),
      },
      element: "protected",
    },
  };
}
