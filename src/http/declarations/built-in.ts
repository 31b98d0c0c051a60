import type { BodySchema } from "./body.ts";
import { defineEndpoint, type Endpoint, type EndpointDeclaration } from "./endpoint.ts";

const builtIn = new WeakSet<Endpoint>();

/**
 * Declares an endpoint of the toolkit itself. The compiler checks the replies of its handler, so they are not checked at run time. The
 * package does not export this function, and a copy of its result counts as a custom endpoint.
 */
export function builtInEndpoint<
  const Path extends string,
  const Schema extends BodySchema | undefined = undefined,
  const IsOptional extends boolean = false,
>(endpoint: EndpointDeclaration<Path, Schema, IsOptional>): Endpoint {
  const declared = defineEndpoint(endpoint);
  builtIn.add(declared);
  return declared;
}

/** Returns true if `builtInEndpoint` returned this object. */
export function isBuiltIn(endpoint: Endpoint): boolean {
  return builtIn.has(endpoint);
}
