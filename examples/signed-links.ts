// A link that shows one note to every caller who has it, for a day and without a login: the credential is in the query.
import { createHmac } from "node:crypto";
import { accounts, accepted, basicLogin, caller, createService, defineFeature, defineResource, listen } from "latchkey";
import { mount, owner, reference, rejected, Secret, text, type Scheme } from "latchkey";
import { identityOf } from "latchkey/auth";
import { sqliteStore } from "latchkey/stores";

const DAY_SECONDS = 86_400;
const form = /^(\d{1,15})\.(\d{1,15})\.([\w-]{43})$/;

const people = accounts({ registration: "open" });

const signedLinks = defineFeature({
  name: "signed-links",
  needs: [people],
  setUp(host) {
    const { accounts: found } = host.use(people);
    const key = host.secret.derive("signed-links");
    /** Signs the content, the owner and the expiry. A changed password changes the generation and ends the link. */
    const sign = (what: string, ...who: readonly number[]) =>
      createHmac("sha256", key)
        .update(["GET", what, ...who].join("\n"))
        .digest("base64url");

    const scheme: Scheme = {
      name: "signed-link",
      carriers: [{ in: "query", name: "signature" }],
      async authenticate(credential, call) {
        const [, id, end, signature = ""] = form.exec(credential) ?? [];
        if (signature === "" || !["GET", "HEAD"].includes(call.method)) return rejected("malformed");
        const account = await found.find(Number(id));
        const what = `${call.path}?${call.queryWithout("signature")}`;
        const good = sign(what, Number(id), Number(end), account?.generation ?? 0);
        if (!new Secret(good).equals(signature) || account === null) return rejected("forged");
        if (call.now >= Number(end) * 1000) return rejected("expired");
        return account.active
          ? accepted(identityOf(account, "signed-link", { scopes: ["read"], expiresAt: Number(end) * 1000 }))
          : rejected("inactive");
      },
    };

    /** The link to a path, which shows what its user may see there. */
    const link = async (path: string, userId: number, now: number) => {
      const end = Math.floor(now / 1000) + DAY_SECONDS;
      const { generation } = (await found.find(userId))!;
      return `${path}?signature=${userId}.${end}.${sign(`${path}?`, userId, end, generation)}`;
    };
    return { offer: { link }, schemes: [scheme] };
  },
});

const notes = defineResource({
  name: "note",
  fields: { user_id: reference("users", { default: caller }), body: text({ maxLength: 2000 }) },
});

const service = await createService({
  store: sqliteStore({ path: process.env["DATABASE"] ?? ":memory:" }),
  secret: new Secret(process.env["SECRET"] ?? "of 32 characters or more, and kept"),
  features: [people, basicLogin(people), signedLinks],
  mounts: [
    mount(notes, {
      permission: owner("user_id"),
      needs: [signedLinks],
      actions: {
        share: {
          permission: owner("user_id"),
          answer: { link: text() },
          handle: async ({ record, context }) => ({
            answer: {
              link: await context.use(signedLinks).link(context.at(`/notes/${record.id}`), record.user_id, context.now),
            },
          }),
        },
      },
    }),
  ],
});
console.log((await listen(service, { port: Number(process.env["PORT"] ?? 8000) })).url);
