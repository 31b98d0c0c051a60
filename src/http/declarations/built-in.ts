import type { BodySchema } from "./body.ts";
import { defineEndpoint, type Endpoint, type EndpointDeclaration } from "./endpoint.ts";
import type { Responses } from "./response.ts";

const builtIn = new WeakSet<Endpoint>();

/**
 * Declares an endpoint of the toolkit itself. The compiler checks the replies of its handler, so they are not checked
 * at run time. The package does not export this function, and a copy of its result counts as a custom endpoint.
 */
export function builtInEndpoint<
  const Path extends string,
  const Schema extends BodySchema | undefined = undefined,
  const IsOptional extends boolean = false,
  const R extends Responses | undefined = undefined,
>(endpoint: EndpointDeclaration<Path, Schema, IsOptional, R>): Endpoint {
  const declared = defineEndpoint(endpoint);
  builtIn.add(declared);
  return declared;
}

/** Returns true if `builtInEndpoint` returned this object. */
export function isBuiltIn(endpoint: Endpoint): boolean {
  return builtIn.has(endpoint);
}
