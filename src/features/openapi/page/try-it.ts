import { shellWord } from "../../../core/checking/shell.ts";
import { html, type Markup, type PageContent } from "../../../core/html/markup.ts";
import type { JSONObject } from "../json.ts";
import {
  collectMediaTypes,
  chooseExample,
  listAt,
  objectAt,
  collectParameters,
  resolved,
  textAt,
  type Operation,
} from "./description.ts";
import { prose, typeWords, type DocumentContext } from "./prose.ts";

/** Returns a form filled in with examples, and the same request for a shell and for a script. */
export function tryIt(writing: DocumentContext, operation: Operation, who: string | null): Markup {
  const { document, basePath } = writing;
  const parameters = collectParameters(document, operation).filter((each) => each["in"] !== "cookie");
  const [needed, others] = [parameters.filter(isNeeded), parameters.filter((each) => !isNeeded(each))];
  const bodies = collectMediaTypes(objectAt(operation.source["requestBody"])["content"]);
  const more = html`<details class="more">
    <summary>${others.length === 1 ? "One more parameter" : `${others.length} more parameters`}</summary>
    <div class="stack">${others.map((each) => drawInput(writing, each))}</div>
  </details>`;
  return html`<section class="stack" aria-labelledby="try">
    <h2 id="try">Try it</h2>
    <form
      class="panel form"
      data-try="answer"
      data-method="${operation.method}"
      data-template="${basePath}${operation.path}"
      data-credential="${chooseCredential(document, operation)}"
    >
      ${needed.map((each) => drawInput(writing, each))}${drawBody(document, bodies)}${others.length === 0 ? "" : more}
      <div class="row" data-js hidden>
        <button class="btn main">Send</button>
        <span class="small dim" ${who === null ? "" : html`data-who`}>Sent as the user who is logged in here, with real effects.</span>
      </div>
      <noscript><p class="rule">Sending it from here needs JavaScript. The command below is the same request.</p></noscript>
    </form>
    ${figure("answer", "Answer", "the answer", "Nothing sent yet.", true)}
    <div>
      <fieldset class="switch">
        <legend class="vh">Written for</legend>
        <label><input type="radio" name="written" checked /> curl</label>
        <label><input type="radio" name="written" /> fetch</label>
      </fieldset>
      <div class="pane">${figure("curl", "Shell", "the command", formatCurl(writing, operation))}</div>
      <div class="pane">${figure("fetch", "JavaScript", "the script", formatFetch(writing, operation))}</div>
    </div>
  </section>`;
}

function isNeeded({ in: place, required }: JSONObject): boolean {
  return place === "path" || required === true;
}

function drawInput(writing: DocumentContext, parameter: JSONObject): Markup {
  const { name, in: place, description } = parameter;
  const schema = resolved(writing.document, parameter["schema"]);
  const id = `${textAt(place)}-${textAt(name)}`;
  const rule = description === undefined ? typeWords(schema) : prose(writing, description);
  return html`<p class="field">
    <label for="${id}"><code>${textAt(name)}</code> <span class="opt">${textAt(place)}</span></label>
    <input
      id="${id}"
      class="mono"
      name="${textAt(name)}"
      data-in="${textAt(place)}"
      value="${isNeeded(parameter) ? chooseValue(parameter, schema) : ""}"
      aria-describedby="${id}-rule"
      autocomplete="off"
      spellcheck="false"
    /><span class="rule" id="${id}-rule">${rule}</span>
  </p> `;
}

/** Returns the first value of a parameter. An id is 1 until the reader enters a better one. */
function chooseValue(parameter: JSONObject, schema: JSONObject): string {
  const shown = parameter["example"] ?? listAt(schema["examples"])[0] ?? listAt(schema["enum"])[0];
  if (typeof shown === "string" || typeof shown === "number") return String(shown);
  return [schema["type"]].flat().includes("integer") ? "1" : textAt(parameter["name"]).toUpperCase();
}

function drawBody(document: JSONObject, bodies: ReturnType<typeof collectMediaTypes>): PageContent {
  const [first] = bodies;
  if (first === undefined) return "";
  const [type, media] = first;
  const types = bodies.map(([each]) => html`<option>${each}</option>`);
  return html`<p class="field">
      <label for="body-type"><code>Content-Type</code> <span class="opt">header</span></label>
      <select id="body-type" data-in="type">${types}</select>
    </p>
    <p class="field">
      <label for="body">Body</label>
      <textarea id="body" data-in="body" rows="8" spellcheck="false">${formatExample(document, type, media)}</textarea>
    </p>`;
}

function formatExample(document: JSONObject, type: string, media: JSONObject): string {
  const example = chooseExample(document, media);
  if (typeof example === "string" && !type.endsWith("json")) return example;
  return JSON.stringify(example, null, 2);
}

/** Returns the placeholder for a credential, never a credential. Empty if none is needed. */
function chooseCredential(document: JSONObject, { source }: Operation): string {
  const names = listAt(source["security"]).flatMap((each) => Object.keys(objectAt(each)));
  const schemes = objectAt(objectAt(document["components"])["securitySchemes"]);
  const requiredSchemes = names.map((name) => objectAt(schemes[name]));
  if (requiredSchemes.some(({ in: place, name }) => place === "header" && name === "Authorization"))
    return "Authorization: Token API_TOKEN";
  if (requiredSchemes.some(({ type, scheme }) => type === "http" && scheme === "bearer"))
    return "Authorization: Bearer TOKEN";
  if (requiredSchemes.some(({ type, scheme }) => type === "http" && scheme === "basic"))
    return "Authorization: Basic CREDENTIALS";
  const header = requiredSchemes.find(({ in: place }) => place === "header");
  return header === undefined ? "" : `${textAt(header["name"])}: VALUE`;
}

interface TryItRequest {
  readonly path: string;
  readonly headers: readonly string[];
  readonly body: string | null;
}

/**
 * Returns the request of the unchanged form, which the examples for a shell and for a script send. When the form
 * changes, the script of the page writes both examples again.
 */
function askedBy({ document, basePath }: DocumentContext, operation: Operation): TryItRequest {
  const parameters = collectParameters(document, operation);
  const path = parameters
    .filter((each) => each["in"] === "path")
    .reduce((at, each) => {
      const value = chooseValue(each, resolved(document, each["schema"]));
      return at.replace(`{${textAt(each["name"])}}`, encodeURIComponent(value));
    }, basePath + operation.path);
  const query = new URLSearchParams(
    parameters
      .filter((each) => each["in"] === "query" && isNeeded(each))
      .map((each) => [textAt(each["name"]), chooseValue(each, resolved(document, each["schema"]))]),
  ).toString();
  const [first] = collectMediaTypes(objectAt(operation.source["requestBody"])["content"]);
  const credential = chooseCredential(document, operation);
  return {
    path: query === "" ? path : `${path}?${query}`,
    headers: [
      ...(credential === "" ? [] : [credential]),
      ...(first === undefined ? [] : [`Content-Type: ${first[0]}`]),
    ],
    body: first === undefined ? null : formatExample(document, ...first),
  };
}

function formatCurl(writing: DocumentContext, operation: Operation): string {
  const { path, headers, body } = askedBy(writing, operation);
  const { method } = operation;
  return [
    `curl${method === "GET" ? "" : ` -X ${method}`} ${shellWord(path)}`,
    ...headers.map((each) => `-H ${shellWord(each)}`),
    ...(body === null ? [] : [`-d ${shellWord(body)}`]),
  ].join(" \\\n  ");
}

function formatFetch(writing: DocumentContext, operation: Operation): string {
  const { path, headers, body } = askedBy(writing, operation);
  const lines = [
    `method: ${JSON.stringify(operation.method)},`,
    ...(headers.length === 0
      ? []
      : [`headers: ${JSON.stringify(Object.fromEntries(headers.map((each) => each.split(/: (.*)/s, 2))))},`]),
    ...(body === null ? [] : [`body: ${JSON.stringify(body)},`]),
  ];
  return `const reply = await fetch(${JSON.stringify(path)}, {\n${lines.map((line) => `  ${line}\n`).join("")}});\nconsole.log(reply.status, await reply.text());`;
}

function figure(id: string, caption: string, what: string, text: string, isLive = false): Markup {
  return html`<figure class="code">
    <figcaption>
      <span>${caption}</span>
      <button class="btn low" type="button" data-js hidden data-copy="${id}" aria-label="Copy ${what}">Copy</button>
    </figcaption>
    <pre id="${id}" tabindex="0" role="group" aria-label="${what}" ${isLive ? html`aria-live="polite"` : ""}>${text}</pre>
  </figure>`;
}
