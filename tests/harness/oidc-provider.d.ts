// The part of oidc-provider that the tests use. The package has no types.
declare module "oidc-provider" {
  import type { IncomingMessage, ServerResponse } from "node:http";

  export default class Provider {
    constructor(issuer: string, configuration: Readonly<Record<string, unknown>>);
    proxy: boolean;
    on(event: string, listener: (...args: readonly unknown[]) => void): this;
    callback(): (request: IncomingMessage, response: ServerResponse) => void;
  }
}
