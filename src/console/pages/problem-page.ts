import { isObject } from "../../checking/members.ts";
import { html, type PageContent, type Markup } from "../../html/markup.ts";
import type { ProblemDocument } from "../../http/formats/format.ts";
import type { View } from "../../http/formats/view.ts";
import { catalogueWith } from "../../problem/definition.ts";
import { writeForm, writeMistakes } from "../form.ts";
import { SESSION_PATH } from "../frame.ts";
import { loginFormOf } from "../login-form.ts";
import { asJSON, column, table } from "../parts.ts";
import { addressOf, titleOf, type Drawn, type Site } from "../site.ts";
import { drawConflict } from "./conflict-page.ts";
import { programOf } from "./session-page.ts";

/** A problem: what happened, why, and what to do about it. What was typed is still there. */
export async function drawProblem(site: Site, view: View, document: ProblemDocument): Promise<Drawn> {
  const form = document.status === 412 ? await drawConflict(view, pathOf(view)) : await formAgain(view, document);
  if (form !== null) return { title: form.title, narrow: true, main: html`${form.main}${programs(document)}` };
  const { title, detail, code, status } = document;
  const catalogue = catalogueWith(site.facts().problems);
  const { why = "", cure = "" } = catalogue[code] ?? {};
  const main = html`<div class="head">
      <div>
        <h1 tabindex="-1">${title}</h1>
        <p>${detail}</p>
      </div>
    </div>
    ${mistakesOf(document)}
    ${status === 412 ? html`<p><a class="btn" href="${addressOf(view, pathOf(view))}">See it as it is now</a></p>` : ""} ${status === 401 ? html`${loginFormOf(site, view)}${schemesOf(view)}${pathOf(view) === SESSION_PATH.slice(0, -1) ? programOf(site, view) : ""}` : ""}
    ${
      why === ""
        ? ""
        : html`<section>
            <h2>Why</h2>
            <p>${why}</p>
          </section>`
    }
    ${
      cure === ""
        ? ""
        : html`<section>
            <h2>What to do</h2>
            <p>${cure}</p>
          </section>`
    }
    ${programs(document)}`;
  return { title, narrow: true, main };
}

function programs(document: ProblemDocument): Markup {
  return html`<details class="more">
    <summary>What a program gets</summary>
    ${asJSON("json", "application/problem+json", "the problem as JSON", document)}
  </details>`;
}

function mistakesOf({ errors = [], detail }: ProblemDocument): PageContent {
  return errors.length === 0 ? "" : writeMistakes({}, detail, errors);
}

/** The challenges of the answer: how programs say who they are. */
function schemesOf({ headers }: View): PageContent {
  const challenges = headers.filter(([name]) => name === "WWW-Authenticate");
  if (challenges.length === 0) return "";
  const rows = challenges.map(([, challenge]) => {
    const scheme = challenge.split(" ", 1)[0]!;
    return html`<tr>
      <th scope="row">${scheme}</th>
      <td><code>Authorization: ${scheme} …</code></td>
      <td><code>${challenge}</code></td>
    </tr> `;
  });
  const columns = ["Scheme", "Send", "The answer’s WWW-Authenticate"].map((name) => column(name));
  return html`<section>
    <h2>For programs</h2>
    ${table("Any one of these", columns, rows)}
  </section>`;
}

/** The form again with what was sent and what is wrong with it; null where it was no form that the caller may send. */
async function formAgain(view: View, document: ProblemDocument): Promise<Drawn | null> {
  const { place, sent, call } = view;
  const { errors = [], detail } = document;
  if (place === null || place.resource === null || !isObject(sent) || errors.length === 0) return null;
  const offers = await view.offers();
  const offer = offers.find(({ method, path }) => method === call.method && path === pathOf(view));
  if (offer === undefined) return null;
  const fields = offer.body?.fields ?? place.resource.fields;
  const what =
    offer.name !== null
      ? titleOf(offer.name)
      : call.method === "POST"
        ? `New ${place.resource.name}`
        : titleOf(`${place.resource.name} ${String(place.params["id"] ?? "")}`);
  const tag = call.header("if-match") ?? null;
  const values = call.method === "PATCH" ? { ...(await recordOf(view)), ...sent } : sent;
  const again = Object.keys(sent);
  const main = html`<div class="head">
      <div>
        <h1>${what}</h1>
        <p>Nothing was stored. What you typed is still here.</p>
      </div>
    </div>
    ${writeMistakes(fields, detail, errors)}
    ${writeForm({ view, offer, fields, values, again, mistakes: errors, tag, does: "Send again" })}`;
  return { title: what, main };
}

/** The record as it is: of a change only what was sent is known. */
async function recordOf(view: View): Promise<object> {
  const found = await view.ask(pathOf(view));
  return found?.body?.kind === "data" && isObject(found.body.value) ? found.body.value : {};
}

/** The path of what was asked, without the base path. */
function pathOf({ call, basePath }: View): string {
  return call.path.slice(basePath.length).replace(/(?<=.)\/$/, "");
}
