import type { Reply } from "../../core/call/call.ts";
import { isObject } from "../../core/checking/members.ts";
import { suggestion } from "../../core/checking/nearest.ts";
import { requireOptions } from "../../core/checking/options.ts";
import { pageAsset, pageStyle, type Asset, type Look } from "../../core/html/look.ts";
import { problem } from "../../core/problem/problem.ts";
import { defineFeature, type Assembled, type Feature } from "../../feature/feature.ts";
import { belowBasePath } from "../../http/base-path.ts";
import { builtInEndpoint, type Endpoint } from "../../http/declarations/endpoint.ts";
import { buildServedEndpoints } from "../../http/mount/endpoints.ts";
import type { DataBody, Format, ProblemDocument } from "../../http/request/format.ts";
import type { View } from "../../http/request/view.ts";
import { accountPages, changePasswordEndpoint, pageEndpoints, takenPages } from "./account-pages.ts";
import { findParameter } from "./addresses.ts";
import { drawInvitations } from "./data/invitations-page.ts";
import { drawList } from "./data/list-page.ts";
import { drawRecord } from "./data/record-page.ts";
import { drawRequestedForm } from "./data/requested-form.ts";
import { drawRoot } from "./data/root-page.ts";
import { giveWayFor, inCell, onPage } from "./excerpt.ts";
import { choicesFor } from "./forms/choices.ts";
import { ACCOUNT_PATH, writeFramed } from "./frame.ts";
import { labelsFor, noLabels } from "./labels.ts";
import { LOGIN_PATH, SESSION_PATH, resolveLoginMethods } from "./login-methods.ts";
import { accentRule, iconColor } from "./look/accent.ts";
import { colorRule, consoleOptions, type ConsoleOptions } from "./options.ts";
import { drawAccount } from "./pages/account-page.ts";
import { drawWaitingLogin } from "./pages/factor-page.ts";
import { drawInvitation } from "./pages/invitation-page.ts";
import { drawIdentityStart } from "./pages/login-lists.ts";
import { drawLoginPage } from "./pages/login-page.ts";
import { drawForgot, drawReset, drawSignup, drawVerify } from "./pages/mail-pages.ts";
import { CONFIRM_PATH, RECOVERY_PATH, drawFactor } from "./pages/new-factor-page.ts";
import { drawPlain } from "./pages/plain-page.ts";
import { drawProblem } from "./pages/problem-page.ts";
import { isRows } from "./pages/rows.ts";
import { drawSession } from "./pages/session-page.ts";
import { drawWhy } from "./pages/why-page.ts";
import type { Drawing, Drawn, Labels, Site } from "./site.ts";
import { WHY_PATH, whyEndpoint } from "./why.ts";

const policy =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; form-action 'self'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'";
const MAX_AGE_SECONDS = 365 * 86_400;

/**
 * Adds pages for people at the same URLs: every response also as `text/html`, with forms and buttons for the actions of
 * the reader.
 *
 * @example
 * ```ts
 * import { consolePages } from "latchkey/features";
 *
 * export const features = [consolePages({ title: "Bookshop", accent: "#8a2c0d" })];
 * ```
 */
export function consolePages(options: ConsoleOptions): Feature<null> {
  return defineFeature({
    name: "console",
    setUp({ basePath, service }) {
      requireOptions(options, consoleOptions);
      const { title, description, accent, colors = {}, templates = {}, pages, opensAPI = false } = options;
      const style = pageStyle((accent === undefined ? "" : accentRule(accent)) + colorRule(colors));
      const look = lookOf(options, style);
      const files = {
        style,
        developerStyle: pageAsset("developerStyle"),
        script: pageAsset("script"),
        forms: pageAsset("forms"),
        import: pageAsset("import"),
        passkeys: pageAsset("passkeys"),
        developer: pageAsset("developer"),
      };
      const addressOf = ({ name }: Asset): string => `${basePath}/console/${name}`;
      const paths = { ...accountPages, ...pages };
      const site: Site = {
        title,
        look,
        ...(description === undefined ? {} : { description }),
        templates: {
          "/": drawRoot,
          [SESSION_PATH]: drawSession,
          [WHY_PATH]: drawWhy,
          [ACCOUNT_PATH]: drawAccount,
          [paths.login]: drawLoginPage,
          [paths.factor]: drawWaitingLogin,
          [paths.signup]: drawSignup,
          [paths.forgot]: drawForgot,
          [paths.reset]: drawReset,
          [paths.verify]: drawVerify,
          [paths.invitation]: drawInvitation,
          [LOGIN_PATH]: drawFactor,
          [`${LOGIN_PATH}factors/`]: drawFactor,
          [`${LOGIN_PATH}confirm/`]: drawFactor,
          "/users/{id}/identities": drawIdentityStart,
          "/users/{id}/factors": drawFactor,
          [RECOVERY_PATH]: drawFactor,
          [CONFIRM_PATH]: drawFactor,
          ...templates,
        },
        assets: {
          style: addressOf(style),
          developerStyle: addressOf(files.developerStyle),
          script: addressOf(files.script),
          forms: addressOf(files.forms),
          import: addressOf(files.import),
          passkeys: addressOf(files.passkeys),
          developer: addressOf(files.developer),
        },
        opensAPI,
        pages: paths,
        facts: service,
      };
      return {
        offer: null,
        look,
        formats: [pageFormat(site)],
        pages: paths,
        mistakes: (assembled) => [...unservedTemplates(templates, assembled), ...takenPages(paths, assembled)],
        endpoints: [
          assetEndpoint(Object.values(files)),
          whyEndpoint(service, basePath),
          ...pageEndpoints(paths, service),
          // A well-known address is at the root of an origin, so a service with a base path cannot serve it.
          ...(basePath === "" ? [changePasswordEndpoint(paths, service)] : []),
        ],
      };
    },
  });
}

function lookOf({ title, mark, logo, links, accent }: ConsoleOptions, style: Asset): Look {
  return {
    title,
    style,
    ...(mark === undefined ? {} : { mark }),
    ...(logo === undefined ? {} : { logo }),
    ...(links === undefined ? {} : { links }),
    ...(accent === undefined ? {} : { color: iconColor(accent) }),
  };
}

/** Returns the mistakes for templates of paths that no endpoint serves. The service would never use such a template. */
function unservedTemplates(
  templates: NonNullable<ConsoleOptions["templates"]>,
  assembled: Assembled,
): readonly string[] {
  const paths = [...new Set(buildServedEndpoints(assembled).map(({ path }) => path))];
  return Object.keys(templates)
    .filter((path) => !paths.includes(path))
    .map((path) => `there is a template for ${path}, but nothing is served there${suggestion(path, paths)}`);
}

/** Serves style and script. Their names change with their content, so they are cached for a year. */
function assetEndpoint(assets: readonly Asset[]): Endpoint {
  return builtInEndpoint({
    method: "GET",
    path: "/console/{file:text}",
    access: "open",
    query: "ignored",
    produces: "text/css",
    documentation: {
      summary: "The style and the scripts of pages",
      tag: "system",
      responses: { 200: { description: "The file." }, 304: { description: "The caller has it already." } },
    },
    handle({ params }): Reply {
      const found = assets.find(({ name }) => name === params.file);
      if (found === undefined) throw problem("not_found");
      const body = { kind: "raw", type: found.type, content: found.text } as const;
      return { status: 200, cache: "public", maxAgeSeconds: MAX_AGE_SECONDS, body };
    },
  });
}

function pageFormat(site: Site): Format {
  return {
    mediaType: "text/html",
    problemMediaType: "text/html",
    tagSuffix: "-html",
    charset: "utf-8",
    hasForms: true,
    contentSecurityPolicy: policy,
    tagged: "by content",
    asksInPlaceOf: (challenge) =>
      resolveLoginMethods(site.facts()).password !== null && /^(?:basic|digest)\b/i.test(challenge),
    write: async (body, view) => writeFramed(site, view, await draw(site, body, view)),
    writeProblem: async (document: ProblemDocument, view) =>
      writeFramed(site, view, await drawProblem(site, view, document), document.request_id),
  };
}

async function draw(site: Site, body: DataBody, view: View): Promise<Drawn> {
  if (view.place?.form) return drawRequestedForm(site, view, view.place.form);
  await giveWayFor(body.value);
  const path = resolveSubject(view);
  const [offers, tag, labels] = await Promise.all([
    view.offers(path),
    findRecordTag(view, path),
    loadPageLabels(site, view, body),
  ]);
  const choices = await choicesFor(site, view, offers);
  const drawing: Drawing = { site, view, body, path, offers, tag, labels, choices };
  const template = view.place === null ? undefined : site.templates[view.place.path];
  return (await template?.(drawing)) ?? drawKnown(drawing);
}

async function drawKnown(drawing: Drawing): Promise<Drawn> {
  const { value, items, element } = drawing.body;
  const resource = drawing.view.place?.resource ?? null;
  if (resource !== null && items === resource.name && isRows(value)) return drawList(drawing, resource, value);
  if (resource !== null && element === resource.name && isObject(value)) return drawRecord(drawing, resource, value);
  return (await drawInvitations(drawing)) ?? drawPlain(drawing);
}

/** Returns the labels for a record or for a page of records. */
async function loadPageLabels(site: Site, view: View, { value, items, element }: DataBody): Promise<Labels> {
  const resource = view.place?.resource ?? null;
  if (resource === null || (items ?? element) !== resource.name) return noLabels;
  const records = [value].flat().filter(isObject);
  return labelsFor(site, view, resource, records, items === undefined ? onPage : inCell);
}

/**
 * Returns the tag of the record without related records, because `If-Match` of a change needs this tag. A response with
 * `expand` has a different tag.
 */
async function findRecordTag(view: View, path: string): Promise<string | null> {
  if (view.tag === null || findParameter(view, "expand") === undefined) return view.tag;
  const found = await view.ask(path);
  return typeof found?.tag === "string" ? `"${found.tag}"` : null;
}

/** Returns the path of the shown record: the created record, the record of an action, or the requested record. */
function resolveSubject({ headers, call, basePath }: View): string {
  const [, elsewhere] = headers.find(([name]) => name === "Location" || name === "Content-Location") ?? [];
  const path = belowBasePath(elsewhere ?? call.path, basePath) ?? call.path;
  return path.replace(/(?<=.)\/$/, "");
}
