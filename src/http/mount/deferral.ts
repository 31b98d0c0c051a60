import type { Reply } from "../../core/call/call.ts";
import type { Eventually } from "../../core/eventually.ts";
import type { AnyProblem } from "../../core/problem/definition.ts";
import type { Context } from "../exchange.ts";

/**
 * Answers POST to a collection from callers without a credential, in place of a creation: their record is created by a later request. Such a
 * POST also takes a form.
 */
export interface Deferral {
  /** The description of the answer 202, for the API's documentation. */
  readonly description: string;
  /** The additional problems, for the API's documentation. */
  readonly problems: readonly AnyProblem[];
  /** Ends the request before its body is read. */
  guard(context: Context): void;
  handle(context: Context): Eventually<Reply>;
}
