import { isObject } from "../core/checking/members.ts";
import type { Endpoint } from "../http/declarations/endpoint.ts";
import type { Mount } from "../http/declarations/mount.ts";
import type { Parts } from "./feature.ts";

/** The parts of one feature, with its name. Null: the parts of the service itself. */
interface NamedParts {
  readonly name: string | null;
  readonly parts: Parts;
}

/**
 * Returns the parts with the endpoints of invitations, which the feature for them makes from the mounts of the whole
 * service.
 */
export function withInvitations<P extends NamedParts>(all: readonly P[]): readonly P[] {
  const mounts = invitedMounts(all);
  if (mounts.length === 0) return all;
  return all.map((each) => {
    const { endpointsOfInvitations, endpoints = [] } = each.parts;
    if (typeof endpointsOfInvitations !== "function") return each;
    const added: readonly Endpoint[] = endpointsOfInvitations(mounts);
    return { ...each, parts: { ...each.parts, endpoints: [...endpoints, ...added] } };
  });
}

/** Returns a mistake if mounts have invitations, and no feature sends them, or several do. */
export function invitationFeatures(all: readonly NamedParts[]): readonly string[] {
  const paths = invitedMounts(all).map(({ resource: { path } }) => `mount(${path})`);
  const names = all.filter(({ parts }) => parts.endpointsOfInvitations !== undefined).map(({ name }) => name);
  if (paths.length === 0 || names.length === 1) return [];
  return names.length === 0
    ? paths.map(
        (path) =>
          `${path}: invitations need mail, and no feature sends them; add groupInvitations(people, mailbox), or set LATCHKEY_MAIL_URL in the service`,
      )
    : [`the features ${names.join(" and ")} both send invitations; keep one`];
}

/** Returns the mounts with invitations. The mounts may be malformed, because they are checked later. */
function invitedMounts(all: readonly NamedParts[]): readonly Mount[] {
  return all.flatMap(({ parts: { mounts } }) => {
    const list: unknown = mounts;
    const isInvited = (each: unknown): each is Mount => isObject(each) && isObject(each["invitations"]);
    return Array.isArray(list) ? list.filter(isInvited) : [];
  });
}
