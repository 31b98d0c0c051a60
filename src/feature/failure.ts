import { DeclarationError } from "../core/checking/declaration-error.ts";
import { isThrown, lineOfThrown, shownThrown } from "../core/checking/thrown.ts";
import { otherCopyMistake } from "../core/copy.ts";
import { MigrationNeeded, StoreSetupError, StoreUnavailable } from "../store/store.ts";
import type { Feature } from "./feature.ts";

/** What the store tells says by itself what is wrong, and is known by its class to whoever tries again. */
const ofStore = [StoreUnavailable, StoreSetupError, MigrationNeeded];

/** What a feature has thrown, under its name: what was thrown is the cause, with its stack. */
export function failureOf({ name }: Feature, step: "start" | "stop", error: unknown): unknown {
  if (ofStore.some((each) => isThrown(error, each))) return error;
  if (isThrown(error, DeclarationError))
    return new DeclarationError(
      error.mistakes.map((each) => `feature ${name}: ${each}`),
      { cause: error.cause },
    );
  return new Error(`feature ${name}: ${step} threw ${faultOf(error)}`, { cause: error });
}

/** A fault in somebody's own code: where it is from says the cause of what is thrown. */
export function faultOf(error: unknown): string {
  const other = otherCopyMistake(error);
  if (other !== null) return `${lineOfThrown(error)}; ${other}`;
  return isThrown(error, Error)
    ? lineOfThrown(error)
    : `${error === undefined ? "nothing" : shownThrown(error)}, which is no error`;
}
