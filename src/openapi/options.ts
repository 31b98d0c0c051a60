import { objectOf, optional, text } from "../checking/members.ts";
import type { ChecksOf } from "../checking/options.ts";
import type { Endpoint } from "../http/endpoint/endpoint.ts";
import type { Format } from "../http/formats/format.ts";
import type { Mount } from "../http/mount/mount.ts";
import type { ProblemDefinition } from "../problem/definition.ts";
import type { Scheme } from "../scheme/scheme.ts";

/** What a service is made of, as `createService` takes it, and what it is called. */
export interface OpenAPIOptions {
  readonly title: string;
  /** Of the API, not of OpenAPI. */
  readonly version: string;
  readonly description?: string;
  /** The terms of the API: its name, and its SPDX expression or address. */
  readonly license?: { readonly name: string; readonly identifier?: string; readonly url?: string };
  readonly schemes?: readonly Scheme[];
  readonly mounts?: readonly Mount[];
  /** Besides those of the mounts. */
  readonly endpoints?: readonly Endpoint[];
  /** Besides JSON and XML; one for `application/xml` takes its place. */
  readonly formats?: readonly Format[];
  /** As `createService` takes it. */
  readonly xml?: boolean;
  /** What the tags of endpoints mean, by name. Those of resources explain themselves. */
  readonly tags?: Readonly<Record<string, string>>;
  /** Problems of one's own, besides those that endpoints and mounts name. */
  readonly problems?: readonly ProblemDefinition[];
  /** As `createService` takes it. */
  readonly basePath?: string;
  /** The base of all paths; the base path, on whatever host the document itself is, if it is left out. */
  readonly serverURL?: string;
}

/** What an API is called. */
export type DocumentationOptions = Pick<OpenAPIOptions, "title" | "version" | "description" | "license">;

const licenseMembers: ChecksOf<NonNullable<DocumentationOptions["license"]>> = {
  name: text,
  identifier: optional(text),
  url: optional(text),
};

/** How that is checked. */
export const titleChecks: ChecksOf<DocumentationOptions> = {
  title: text,
  version: text,
  description: optional(text),
  license: optional(objectOf(licenseMembers, 'it has to be an object, like { name: "MIT", identifier: "MIT" }')),
};
