/** What the page of the API does: it reads the document and builds elements, whose text is only ever text. */
export const pageScript = String.raw`
"use strict";
let api;
// Where the service stands: nothing, or a path without a slash at its end.
const { base } = document.body.dataset;

const make = (name, attributes, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children.flat(Infinity).filter((child) => child !== null));
  return element;
};
const resolve = (part) => {
  const { $ref, ...own } = part;
  return $ref === undefined ? part : { ...resolve($ref.slice(2).split("/").reduce((at, name) => at[name], api)), ...own };
};
/** Text in which backticks set code; the code of a problem leads to its page. */
const prose = (text) =>
  text.split(/${"`"}([^${"`"}]*)${"`"}/).map((part, at) => {
    if (at % 2 === 0) return part;
    const isProblem = api.components.schemas.Problem?.properties.code.enum.includes(part);
    return isProblem ? make("a", { href: base + "/problems/" + part }, make("code", {}, part)) : make("code", {}, part);
  });
const paragraph = (text) => (text === undefined ? null : make("p", {}, prose(text)));
const pretty = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));

/** What a value may be, in a few words. */
const typeOf = (schema) => {
  const words = [[schema.type ?? (schema.properties ? "object" : "any value")].flat().join(" or ")];
  if (schema.format !== undefined) words.push(schema.format);
  if (schema.enum !== undefined) words.push("one of " + schema.enum.map((each) => JSON.stringify(each)).join(", "));
  if (schema.const !== undefined) words.push(JSON.stringify(schema.const));
  if (schema.minLength > 1) words.push("at least " + schema.minLength + " characters");
  if (schema.maxLength !== undefined) words.push("at most " + schema.maxLength + " characters");
  if (schema.minimum > Number.MIN_SAFE_INTEGER) words.push("from " + schema.minimum);
  if (schema.maximum < Number.MAX_SAFE_INTEGER) words.push("to " + schema.maximum);
  if (schema.pattern !== undefined) words.push("like " + schema.pattern);
  if (schema.default !== undefined) words.push("default " + JSON.stringify(schema.default));
  return words.join(", ");
};
const shapeOf = (unresolved, depth = 0) => {
  const schema = resolve(unresolved);
  if (depth > 8) return make("p", {}, "…");
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives !== undefined) {
    const some = alternatives.map((each) => make("li", {}, titleOf(each), shapeOf(each, depth + 1)));
    return make("div", {}, make("p", { class: "quiet" }, "One of:"), make("ul", { class: "shape" }, some));
  }
  if (schema.items !== undefined) return make("div", {}, make("p", { class: "quiet" }, "A list; each:"), shapeOf(schema.items, depth + 1));
  if (schema.properties === undefined) return make("p", { class: "quiet" }, typeOf(schema));
  return make("ul", { class: "shape" }, Object.entries(schema.properties).map(([name, each]) => property(name, each, schema, depth)));
};
const property = (name, unresolved, owner, depth) => {
  const schema = resolve(unresolved);
  const marks = [owner.required?.includes(name) ? "required" : "", schema.readOnly ? "read only" : "", schema.writeOnly ? "write only" : ""];
  const said = [typeOf(schema), ...marks.filter((mark) => mark !== "")].join(" · ");
  const isNested = schema.properties !== undefined || schema.items !== undefined || schema.anyOf !== undefined;
  return make("li", {}, make("code", {}, name), " ", make("span", { class: "quiet" }, said), paragraph(schema.description), isNested ? shapeOf(schema, depth + 1) : null);
};
const titleOf = (part) => (part.$ref === undefined ? null : make("code", {}, part.$ref.split("/").at(-1)));

/** A value that fits, where the document shows none. */
const sampleOf = (unresolved) => {
  const schema = resolve(unresolved);
  const shown = schema.examples?.[0] ?? schema.default ?? schema.enum?.[0];
  if (shown !== undefined) return shown;
  if (schema.items !== undefined) return [sampleOf(schema.items)];
  if (schema.properties === undefined) return { integer: 1, number: 1, boolean: true }[[schema.type].flat()[0]] ?? "…";
  const needed = Object.entries(schema.properties).filter(([name]) => schema.required?.includes(name));
  return Object.fromEntries(needed.map(([name, each]) => [name, sampleOf(each)]));
};
const exampleOf = (media) => media.example ?? Object.values(media.examples ?? {})[0]?.value;

const quote = (text) => "'" + text.replaceAll("'", "'\\''") + "'";
const curlOf = (method, path, operation) => {
  const base = new URL(api.servers?.[0]?.url ?? "/", location.href).href.replace(/\/$/, "");
  const words = ["curl" + (method === "get" ? "" : " -X " + method.toUpperCase())];
  const [scheme] = operation.security?.flatMap(Object.keys) ?? [];
  if (scheme !== undefined) words.push(credentialOf(api.components.securitySchemes[scheme]));
  const [type, media] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  if (media !== undefined) words.push("-H " + quote("Content-Type: " + type), "-d " + quote(JSON.stringify(exampleOf(media) ?? sampleOf(media.schema ?? {}))));
  return [...words, quote(base + path.replaceAll(/\{(\w+)\}/g, (_, name) => placeholder(operation, name)))].join(" \\\n  ");
};
const placeholder = (operation, name) => {
  const schema = operation.parameters.map(resolve).find((each) => each.name === name)?.schema ?? {};
  return schema.type === "integer" ? "1" : name.toUpperCase();
};
const credentialOf = ({ type, scheme, name, in: place }) => {
  if (type === "http" && scheme === "basic") return "-u USERNAME";
  if (type === "http") return "-H 'Authorization: Bearer TOKEN'";
  return place === "cookie" ? "-b " + quote(name + "=VALUE") : "-H " + quote(name + ": VALUE");
};

const tableOf = (heads, rows) =>
  make("div", { class: "scroll" }, make("table", {}, make("thead", {}, make("tr", {}, heads.map((head) => make("th", { scope: "col" }, head)))), make("tbody", {}, rows.map((cells) => make("tr", {}, cells.map((cell) => make("td", {}, cell)))))));
const contentOf = (content = {}) => {
  const seen = new Set();
  return Object.entries(content).flatMap(([type, media]) => {
    const example = exampleOf(media);
    const key = JSON.stringify(media.schema);
    const shape = media.schema === undefined ? null : seen.has(key) ? make("p", { class: "quiet" }, "The same fields.") : shapeOf(media.schema);
    seen.add(key);
    return [make("h4", {}, type), shape, example === undefined ? null : make("pre", {}, pretty(example))];
  });
};
const parameterRow = (unresolved) => {
  const { name, in: place, required, schema = {}, description = "" } = resolve(unresolved);
  const inner = schema.items === undefined ? schema : resolve(schema.items);
  return [make("code", {}, name), place + (required ? ", required" : ""), [prose(description), " ", make("span", { class: "quiet" }, typeOf(inner))]];
};
const operationOf = (method, path, operation) => {
  const isOpen = (operation.security ?? []).every((each) => Object.keys(each).length === 0);
  const responses = Object.entries(operation.responses).map(([status, response]) => [status, resolve(response)]);
  const summary = make("summary", {}, make("span", { class: "method " + method }, method.toUpperCase()), make("code", {}, path), make("span", {}, operation.summary ?? ""), isOpen ? make("span", { class: "open" }, "no credentials") : null);
  const details = make("details", { id: operation.operationId }, summary);
  // Built when it is first opened: most of it is never looked at.
  details.addEventListener("toggle", () => {
    if (details.childElementCount > 1) return;
    details.append(make("div", {},
      paragraph(operation.description),
      make("pre", {}, curlOf(method, path, operation)),
      operation.parameters === undefined ? null : [make("h3", {}, "Parameters"), tableOf(["Name", "In", "Meaning"], operation.parameters.map(parameterRow))],
      operation.requestBody === undefined ? null : [make("h3", {}, "Request body"), contentOf(operation.requestBody.content)],
      make("h3", {}, "Responses"),
      tableOf(["Status", "Meaning"], responses.map(([status, { description }]) => [make("code", {}, status), prose(description)])),
      responses.filter(([status]) => status < 300).map(([status, { content }]) => (content === undefined ? null : [make("h3", {}, "Content of " + status), contentOf(content)])),
    ));
  });
  return details;
};

const show = () => {
  const operations = Object.entries(api.paths).flatMap(([path, methods]) => Object.entries({ ...methods, ...methods["x-oai-additionalOperations"] }).filter(([method]) => !method.startsWith("x-")).map(([method, operation]) => ({ method: method.toLowerCase(), path, operation })));
  const sections = api.tags.map(({ name, description }) => {
    const own = operations.filter(({ operation }) => operation.tags.includes(name));
    const links = own.map(({ method, path, operation }) => make("li", {}, make("a", { href: "#" + operation.operationId, title: method.toUpperCase() + " " + path }, operation.summary ?? path)));
    return { link: [make("strong", {}, name), make("ul", {}, links)], section: make("section", {}, make("h2", {}, name), paragraph(description), own.map(({ method, path, operation }) => operationOf(method, path, operation))) };
  });
  const schemes = Object.entries(api.components.securitySchemes ?? {}).map(([name, { type, scheme, in: place, description = "" }]) => [make("code", {}, name), [type, scheme ?? place].join(", "), prose(description)]);
  document.title = api.info.title;
  document.querySelector("main").replaceChildren(
    make("h1", {}, api.info.title, " ", make("small", { class: "quiet" }, api.info.version)),
    ...[paragraph(api.info.description)].filter(Boolean),
    make("p", {}, make("a", { href: base + "/openapi.json" }, "OpenAPI document")),
    ...(schemes.length === 0 ? [] : [make("h2", {}, "Authentication"), tableOf(["Name", "Kind", "Meaning"], schemes)]),
    ...sections.map(({ section }) => section),
  );
  const filter = make("input", { type: "search", id: "filter", autocomplete: "off" });
  document.querySelector("nav").append(make("label", { for: "filter" }, "Find"), filter, ...sections.flatMap(({ link }) => link));
  filter.addEventListener("input", () => {
    for (const item of document.querySelectorAll("nav li")) item.hidden = !(item.textContent + item.firstChild.title).toLowerCase().includes(filter.value.toLowerCase());
  });
  const openTarget = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target?.tagName !== "DETAILS") return;
    target.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", openTarget);
  openTarget();
};

fetch(base + "/openapi.json", { credentials: "omit" })
  .then((response) => (response.ok ? response.json() : Promise.reject(new Error("it answered " + response.status))))
  .then((document) => { api = document; show(); })
  .catch((error) => { document.querySelector("main").replaceChildren(make("p", { role: "alert" }, "The description of the API could not be read: " + error.message)); });
`;
