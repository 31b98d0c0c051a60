import type { Reply } from "../../core/call/call.ts";
import type { Eventually } from "../../core/eventually.ts";
import type { AnyProblem } from "../../core/problem/catalogue.ts";
import type { Resource } from "../../resource/resource.ts";
import type { Context } from "../request/exchange.ts";

/**
 * Answers a POST to a collection from a caller without a credential. It does not create the record. A later request of
 * the same person creates it. The body of such a POST may also be a form.
 */
export interface Deferral {
  /** The description of the 202 response, for the API's documentation. */
  readonly description: string;
  /** The additional problems, for the API's documentation. */
  readonly problems: readonly AnyProblem[];
  /** Ends the request before its body is read. */
  guard(context: Context): void;
  /** Answers the request. `resource` has the fields that the caller may send. */
  handle(context: Context, resource: Resource): Eventually<Reply>;
}
