import { objectOf, optional, text } from "../../core/checking/members.ts";
import type { ChecksOf } from "../../core/checking/options.ts";
import type { ProblemDefinition } from "../../core/problem/definition.ts";
import type { ServiceParts } from "../../feature/feature.ts";

/** What a service is made of, as `createService` takes it, and what it is called. */
export interface OpenAPIOptions extends Omit<ServiceParts, "collections"> {
  readonly title: string;
  /** Of the API, not of OpenAPI. */
  readonly version: string;
  readonly description?: string;
  /** The terms of the API: its name, and its SPDX expression or address. */
  readonly license?: { readonly name: string; readonly identifier?: string; readonly url?: string };
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
