import { authenticated, defineEndpoint, problem, type Endpoint, type Context, type Reply } from "../index.ts";
import { ifNoneMatch, notModified, objectSchema, textSchema, userSchema } from "./descriptions.ts";
import type { Parts } from "./parts.ts";
import type { ShownUser } from "./users-resource.ts";

/** A user as others see it. */
export async function requireUser({ store, users }: Parts, id: number): Promise<ShownUser> {
  const row = await store.find(users.collection, id);
  if (row === null) throw problem("not_found");
  return users.show(row.record);
}

/** `GET /protected/`: the specification's example of a resource that needs credentials, under any scheme. */
export function protectedEndpoint(parts: Parts): Endpoint {
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
          schema: objectSchema("protected", {
            message: textSchema,
            user: userSchema,
            username: textSchema,
            scheme: textSchema,
          }),
          headers: { ETag: "Of the present state." },
        },
        304: notModified,
      },
    },
    handle: (context) => greet(parts, context),
  });
}

async function greet(parts: Parts, context: Context): Promise<Reply> {
  const { id, username, scheme } = context.requireIdentity();
  const [user, account] = await Promise.all([requireUser(parts, id), parts.accounts.find(id)]);
  // A token may still say the former name.
  const name = account?.username ?? username;
  return {
    status: 200,
    body: {
      kind: "data",
      value: { message: `Hello, ${user.name}.`, user, username: name, scheme },
      element: "protected",
    },
  };
}
