import { suggestion } from "../core/checking/nearest.ts";
import type { Endpoint } from "../http/declarations/endpoint.ts";
import type { Mount } from "../http/declarations/mount.ts";
import type { RevealedField } from "../http/declarations/reveals.ts";

/** The parts of a service that may show fields on purpose. */
interface Revealing {
  readonly mounts: readonly Mount[];
  readonly endpoints: readonly Endpoint[];
  readonly formats: readonly { readonly mediaType: string; readonly reveals?: readonly RevealedField[] }[];
}

/** Returns the mistakes in `reveals`: fields that no mounted resource has. */
export function revealMistakes({ mounts, endpoints, formats }: Revealing): readonly string[] {
  const known = mounts.flatMap(({ resource: { plural, fields } }) =>
    Object.keys(fields).map((name) => `${plural}.${name}`),
  );
  const named = [
    ...mounts.flatMap(({ resource, actions, older }) =>
      older === null
        ? actions.map(({ name, reveals }) => ({ place: `action ${name} of ${resource.path}`, reveals }))
        : [],
    ),
    ...endpoints.map(({ method, path, reveals = [] }) => ({ place: `${method} ${path}`, reveals })),
    ...formats.map(({ mediaType, reveals = [] }) => ({ place: `the format ${mediaType}`, reveals })),
  ];
  return named.flatMap(({ place, reveals }) =>
    reveals
      .filter((each) => !known.includes(each))
      .map((each) => `${place}: reveals names ${each}, which no mounted resource has${suggestion(each, known)}`),
  );
}
