import { isObject, isText, shown } from "../../core/checking/members.ts";
import { suggestion } from "../../core/checking/nearest.ts";
import { html, type Markup } from "../../core/html/markup.ts";
import { isHeaderText } from "./address.ts";
import type { Composed, MailTemplate, MailTemplates } from "./contract.ts";
import { english } from "./english.ts";
import { german } from "./german.ts";

const builtIn: Readonly<Record<string, MailTemplates>> = { en: english, de: german };

/** Templates by language, for example `en` and `de`. */
export type TemplatesByLanguage = Readonly<Record<string, MailTemplates>>;

const PLACEHOLDER = /\{(\w+)\}/g;
const FULL_URL = /^https?:\/\/[^\s<>"]+$/;
const CODE = /^\d{8}$/;
const LANGUAGE = /^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/;

/** The content of a mail after its template is filled in. */
export interface FilledTemplate {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Fills in templates. */
export interface Templates {
  /** Returns the content of a mail. Throws if the template does not exist, or if a value does not fit. */
  fill(composed: Composed, service: string): FilledTemplate;
}

/**
 * Makes the templates of a service: its own, and the built-in templates that it does not replace. `language` is the
 * default.
 */
export function createTemplates(ownTemplates: TemplatesByLanguage, language: string): Templates {
  const find = (name: string, wanted: string): readonly [MailTemplate, string] => {
    for (const each of [wanted, wanted.split("-")[0]!, language, language.split("-")[0]!, "en"]) {
      const template = ownTemplates[each]?.[name] ?? builtIn[each]?.[name];
      if (template !== undefined) return [template, each];
    }
    throw new Error(`There is no mail template ${name}. Add it to the option templates of mail().`);
  };
  return {
    fill({ template: name, values, language: wanted = language }, service) {
      requireValues(values);
      const [template, found] = find(name, wanted);
      const all = { ...values, service };
      const subject = fillIn(template.subject, all);
      if (!isHeaderText(subject)) throw new Error(`The subject of the mail template ${name} is not one line of text.`);
      const paragraphs = fillParagraphs(template.text, all);
      return {
        subject,
        text: `${paragraphs.join("\n\n")}\n`,
        html: String(
          template.html === undefined ? renderPage(subject, found, paragraphs) : fillInHTML(template.html, all),
        ),
      };
    },
  };
}

/**
 * Throws if a link, a code or another value has the wrong format. Otherwise a mail could contain a text that a caller
 * chose.
 */
function requireValues(values: Composed["values"]): void {
  for (const [name, value] of Object.entries(values)) {
    const fits = name === "link" ? FULL_URL.test(value) : name === "code" ? CODE.test(value) : true;
    // A line of a mail has at most 998 octets, and the longest value is a link with a long token.
    if (!fits || value.length > 900 || /[\p{Cc}\u2028\u2029]/u.test(value))
      throw new Error(
        `The value ${name} of a mail does not fit: a link is a URL, a code has eight digits, all other values are one line.`,
      );
  }
}

/** Replaces the placeholders of a text. Does not replace placeholders within the values. */
function fillIn(text: string, values: Composed["values"]): string {
  return text.replaceAll(PLACEHOLDER, (_, name: string) => values[name] ?? "");
}

function fillInHTML(text: string, values: Composed["values"]): string {
  return text.replaceAll(PLACEHOLDER, (_, name: string) => String(html`${values[name] ?? ""}`));
}

/** Returns the filled-in paragraphs. Leaves out each paragraph with a missing value. */
function fillParagraphs(text: string, values: Composed["values"]): readonly string[] {
  return text
    .trim()
    .split(/\n[ \t]*\n\s*/)
    .filter((paragraph) => placeholdersIn(paragraph).every((name) => Object.hasOwn(values, name)))
    .map((paragraph) => fillIn(paragraph, values));
}

function placeholdersIn(text: string): readonly string[] {
  return Array.from(text.matchAll(PLACEHOLDER), ([, name]) => name!);
}

/** Makes the HTML of a mail from its paragraphs. */
function renderPage(subject: string, language: string, paragraphs: readonly string[]): Markup {
  const renderLine = (line: string): Markup => {
    if (FULL_URL.test(line)) return html`<a href="${line}">${line}</a>`;
    return CODE.test(line) ? html`<strong style="font-size:1.5em;letter-spacing:.1em">${line}</strong>` : html`${line}`;
  };
  const renderParagraph = (paragraph: string): Markup =>
    html`<p>${paragraph.split("\n").map((line, at) => html`${at === 0 ? "" : html`<br>\n`}${renderLine(line)}`)}</p>\n`;
  return html`<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><title>${subject}</title></head>
<body style="font-family:sans-serif;line-height:1.5">
${paragraphs.map(renderParagraph)}</body>
</html>
`;
}

/** Returns the mistakes in the templates of an application, each with its location. */
export function templateMistakes(input: unknown): readonly string[] {
  if (input === undefined) return [];
  if (!isObject(input)) return [`templates is ${shown(input)}; it has to be an object by language: { en: { … } }`];
  return Object.entries(input).flatMap(([language, templates]) => {
    const place = `templates.${language}`;
    if (!LANGUAGE.test(language)) return [`${place}: write a language, like en or pt-BR`];
    if (!isObject(templates)) return [`${place} is ${shown(templates)}; it has to be an object of templates`];
    return Object.entries(templates).flatMap(([name, template]) =>
      collectMistakes(name, template).map((mistake) => `${place}.${name}: ${mistake}`),
    );
  });
}

function collectMistakes(name: string, template: unknown): readonly string[] {
  if (!isObject(template)) return [`it is ${shown(template)}; it has to be an object with subject and text`];
  const { subject, text, html: own } = template;
  if (!isText(subject) || !isHeaderText(subject)) return ["subject has to be one line of at most 200 characters"];
  if (!isText(text)) return ["text has to be a text"];
  if (own !== undefined && !isText(own)) return ["html has to be a text"];
  const unknownMembers = Object.keys(template).filter((member) => !["subject", "text", "html"].includes(member));
  const secret = ["link", "code"];
  return [
    ...unknownMembers.map((member) => `there is no member ${member}; it has subject, text and html`),
    ...placeholdersIn(subject)
      .filter((each) => secret.includes(each))
      .map((each) => `the subject has {${each}}; write it in the text instead`),
    ...text
      .split("\n")
      .filter((line) => secret.some((each) => line.includes(`{${each}}`) && line !== `{${each}}`))
      .map((line) => `${shown(line)} has more than a link or a code; put {link} and {code} on separate lines`),
    ...replacedMistakes(name, { subject, text, ...(own === undefined ? {} : { html: own }) }),
  ];
}

/**
 * Returns the mistakes of a template that replaces a built-in one: it may use only the same values, and must have the
 * link and the code.
 */
function replacedMistakes(name: string, template: MailTemplate): readonly string[] {
  const replaced = english[name];
  if (replaced === undefined) return [];
  const valueNames = [...new Set([...placeholdersIn(replaced.subject), ...placeholdersIn(replaced.text), "service"])];
  const parts = [template.subject, template.text, template.html ?? ""];
  const needed = valueNames.filter((each) => each === "link" || each === "code");
  const bodies = template.html === undefined ? [template.text] : [template.text, template.html];
  return [...new Set(parts.flatMap(placeholdersIn).filter((each) => !valueNames.includes(each)))]
    .map((each) => `there is no value ${each}${suggestion(each, valueNames)}`)
    .concat(
      needed
        .filter((each) => !bodies.every((body) => body.includes(`{${each}}`)))
        .map((each) => `it has no {${each}}; without this value, the reader of the mail cannot continue`),
    );
}
