import type { BodySchema } from "./body.ts";
import { defineEndpoint, type Endpoint, type EndpointDeclaration } from "./endpoint.ts";

const builtIn = new WeakSet<Endpoint>();

/**
 * Declares an endpoint of the toolkit's own. The compiler has looked at what its handler gives, so that nobody looks at each reply again; no
 * door gives this, and a copy of such an endpoint is one of somebody's own.
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

/** Whether an endpoint was declared here, by this very object. */
export function isBuiltIn(endpoint: Endpoint): boolean {
  return builtIn.has(endpoint);
}
