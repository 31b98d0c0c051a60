import { buildObjectCheck, optional, text } from "../../core/checking/members.ts";
import type { ChecksOf } from "../../core/checking/options.ts";
import type { ProblemDefinition } from "../../core/problem/catalogue.ts";
import type { ServiceParts } from "../../feature/feature.ts";

/** The parts of a service, as for `createService`, and its title. */
export interface OpenAPIOptions extends Omit<ServiceParts, "collections"> {
  readonly title: string;
  /** The version of the API, not of OpenAPI. */
  readonly version: string;
  readonly description?: string;
  /** The license of the API: its name, and its SPDX expression (`identifier`) or its address (`url`). */
  readonly license?: { readonly name: string; readonly identifier?: string; readonly url?: string };
  /** The same option as in `createService`. */
  readonly xml?: boolean;
  /** The meaning of the tags of endpoints, by name. The tags of resources need no explanation. */
  readonly tags?: Readonly<Record<string, string>>;
  /**
   * True if an account may need a second factor in addition to an accepted credential (401 `factor_required`). Default:
   * false.
   */
  readonly asksForFactors?: boolean;
  /** Custom problems, in addition to those of endpoints and mounts. */
  readonly problems?: readonly ProblemDefinition[];
  /** The same option as in `createService`. */
  readonly basePath?: string;
  /** The base of all paths. Default: the base path on the host of the document. */
  readonly serverURL?: string;
}

/** The title, the version, the description and the license of an API. */
export type DocumentationOptions = Pick<OpenAPIOptions, "title" | "version" | "description" | "license">;

const licenseMembers: ChecksOf<NonNullable<DocumentationOptions["license"]>> = {
  name: text,
  identifier: optional(text),
  url: optional(text),
};

/** The check for these options. */
export const titleChecks: ChecksOf<DocumentationOptions> = {
  title: text,
  version: text,
  description: optional(text),
  license: optional(
    buildObjectCheck(licenseMembers, 'it has to be an object, like { name: "MIT", identifier: "MIT" }'),
  ),
};
