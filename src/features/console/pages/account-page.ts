import { isObject } from "../../../core/checking/members.ts";
import { html, type Markup, type PageContent } from "../../../core/html/markup.ts";
import type { Offer } from "../../../http/request/view.ts";
import { writeForm } from "../forms/form.ts";
import { collectInputs } from "../forms/inputs.ts";
import { findRecord } from "../replies.ts";
import { resolveAddress, type Drawing, type Drawn } from "../site.ts";
import { showDay } from "../values.ts";
import {
  fold,
  hasTwoSteps,
  line,
  lines,
  rowsAt,
  settingsSection,
  type AccountView,
  type Row,
} from "./account-parts.ts";
import { accountWords } from "./account-words.ts";
import { drawPrograms, drawSessions } from "./credential-lists.ts";
import { emailForm } from "./email-form.ts";
import { drawApps, drawCompanies, drawPasskeys } from "./login-lists.ts";

/** Draws an account in sections of words. The forms are folded, and what programs use comes last. */
export async function drawAccount(drawing: Drawing): Promise<Drawn | null> {
  const { view, body } = drawing;
  const { value: account } = body;
  const id = view.place?.params["id"];
  if (!isObject(account) || typeof account["username"] !== "string" || id === undefined) return null;
  const user = `/users/${id}`;
  const isOwn = view.identity?.id === id;
  const found = await view.ask(user);
  const record = findRecord(found) ?? {};
  const recordTag = typeof found?.tag === "string" ? `"${found.tag}"` : null;
  const factors = await rowsAt(view, `${user}/factors`);
  const shown: AccountView = { drawing, user, isOwn, record, recordTag, account, factors };
  const name = String(record["name"] ?? account["username"]);
  const title = isOwn ? "Your account" : `The account of ${account["username"]}`;
  const since = typeof account["created_at"] === "string" ? html`, member since ${showDay(account["created_at"])}` : "";
  const main = html`<div class="head">
  <div>
    <h1 tabindex="-1"><bdi>${title}</bdi></h1>
    <p class="lead"><bdi>${name}</bdi>${since}${account["active"] === false ? html` <span class="tag warn">not active</span>` : ""}</p>
  </div>
  ${isOwn ? "" : html`<div class="row"><a class="btn" href="${resolveAddress(view, user)}">The user’s record</a></div>`}
</div>
${await drawProfile(shown)}${await drawPassword(shown)}${await drawEmail(shown)}${drawAccess(shown)}
${await drawApps(shown)}${await drawPasskeys(shown)}${await drawCompanies(shown)}
${await drawSessions(shown)}${await drawPrograms(shown)}`;
  return { title, main, looks: "settings", hasStrip: false };
}

/** The fields of a user that have a section of their own. */
const apart: ReadonlySet<string> = new Set(["email", "username", "password", "current_password", "end_keys", "invite"]);

async function findUpdate({ drawing: { view }, user }: AccountView): Promise<Offer | undefined> {
  return (await view.offers(user)).find(({ action }) => action === "update");
}

async function drawProfile(shown: AccountView): Promise<PageContent> {
  const { drawing, isOwn, record, recordTag } = shown;
  const offer = await findUpdate(shown);
  const only = offer === undefined ? [] : collectInputs(offer).flatMap(({ name }) => (apart.has(name) ? [] : [name]));
  if (offer === undefined || only.length === 0) return "";
  const { view, choices, labels } = drawing;
  const parts = { view, offer, choices, labels, only, values: record, tag: recordTag, next: view.call.path };
  return settingsSection(
    "profile",
    "Profile",
    isOwn ? "How others see you." : "How others see this user.",
    html`<div class="panel">${writeForm({ ...parts, words: accountWords, does: "Save", prefix: "profile" })}</div>`,
  );
}

/** Draws the password and the username. Administrators also make one-time passwords for others. */
async function drawPassword(shown: AccountView): Promise<PageContent> {
  const { drawing, user, isOwn, account, recordTag } = shown;
  const { view } = drawing;
  const offer = await findUpdate(shown);
  const inputs = new Set(offer === undefined ? [] : collectInputs(offer).map(({ name }) => name));
  const password =
    offer === undefined || !inputs.has("password")
      ? ""
      : line(
          isOwn ? "Your password" : "The password",
          fold(
            "Change password",
            writeForm({
              view,
              offer,
              only: [...currentPassword(shown), "password"],
              tag: recordTag,
              next: view.call.path,
              words: accountWords,
              does: "Save password",
              prefix: "password",
              more: inputs.has("end_keys") ? endKeys(isOwn) : "",
            }),
          ),
        );
  const once = isOwn ? "" : await drawOneTime(drawing, user);
  return settingsSection(
    "pw",
    "Password",
    isOwn ? "A long one that you use nowhere else." : "What the user logs in with.",
    lines([password, drawUsername(shown, account), once]),
  );
}

function endKeys(isOwn: boolean): Markup {
  return html`<label class="pick"><input type="checkbox" name="end_keys" value="true" data-type="boolean"> <span>End ${isOwn ? "my" : "the"} keys for programs too</span></label>`;
}

/** Returns the field of the current password, which a recent login with two steps replaces. */
function currentPassword({ isOwn, factors }: AccountView): readonly string[] {
  return isOwn && !hasTwoSteps(factors) ? ["current_password"] : [];
}

function drawUsername(shown: AccountView, account: Row): PageContent {
  const { drawing, isOwn } = shown;
  const { view, offers, tag } = drawing;
  const offer = offers.find(({ action }) => action === "update");
  const name = html`Username: <b><bdi>${String(account["username"])}</bdi></b>`;
  if (offer === undefined) return line(name);
  const parts = { view, offer, values: account, tag, next: view.call.path, words: accountWords, prefix: "login" };
  const only = ["username", ...currentPassword(shown)];
  return line(
    name,
    fold(isOwn ? "Change username" : "Change it", writeForm({ ...parts, only, does: "Save username" })),
  );
}

/** Draws what only administrators set: the role, and whether the user may log in. */
function drawAccess(shown: AccountView): PageContent {
  const { drawing, account, isOwn } = shown;
  const { view, offers, tag } = drawing;
  const offer = offers.find(({ action }) => action === "update");
  if (offer === undefined || view.identity?.role !== "admin") return "";
  const parts = { view, offer, values: account, tag, next: view.call.path, words: accountWords, prefix: "access" };
  const only = ["role", "active", ...(isOwn ? currentPassword(shown) : [])];
  return settingsSection(
    "access",
    "Access",
    "What administrators decide.",
    lines([
      line(
        html`${String(account["role"])}${account["active"] === false ? ", not active" : ""}`,
        fold("Change access", writeForm({ ...parts, only, does: "Save access" })),
      ),
    ]),
  );
}

async function drawEmail(shown: AccountView): Promise<PageContent> {
  const { drawing, user, isOwn, record, recordTag, account } = shown;
  const { site, view } = drawing;
  const address = record["email"];
  if (typeof address !== "string") return "";
  const isByMail = isOwn && (await view.offers(`${user}/email`)).some(({ method }) => method === "POST");
  const offer = await findUpdate(shown);
  const mayChange = offer !== undefined && collectInputs(offer).some(({ name }) => name === "email");
  const form = isByMail
    ? emailForm(site, view, user, { asksPassword: !hasTwoSteps(shown.factors) })
    : !mayChange
      ? ""
      : writeForm({
          view,
          offer,
          only: ["email", ...currentPassword(shown)],
          values: record,
          tag: recordTag,
          next: view.call.path,
          words: accountWords,
          does: "Save e-mail",
          prefix: "email",
        });
  const proved = typeof account["email_verified_at"] === "string" ? html` <span class="tag good">confirmed</span>` : "";
  return settingsSection(
    "mail",
    "E-mail",
    isOwn ? "For logging in and for mail from us." : "For logging in and for mail.",
    lines([line(html`<bdi>${address}</bdi>${proved}`, form === "" ? "" : fold("Change e-mail", form))]),
  );
}

/** Returns the form for a one-time password, for a user who has none or has lost it. */
async function drawOneTime({ view }: Drawing, user: string): Promise<PageContent> {
  const offer = (await view.offers(`${user}/password`)).find(({ method }) => method === "POST");
  if (offer === undefined) return "";
  const form = writeForm({
    view,
    offer,
    does: "Make a one-time password",
    looks: "",
    words: accountWords,
    prefix: "once",
  });
  return line(
    html`One-time password<br><span class="small dim">For a user who has none or has lost it. It is shown once and good for one login. All logins of this user end now.</span>`,
    fold("Give a one-time password", form),
  );
}
