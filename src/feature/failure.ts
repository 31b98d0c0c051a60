import { DeclarationError } from "../core/checking/declaration-error.ts";
import { isThrown, lineOfThrown, shownThrown } from "../core/checking/thrown.ts";
import { otherCopyMistake } from "../core/copy.ts";
import { MigrationNeeded, StoreSetupError, StoreUnavailable } from "../store/store.ts";
import type { Feature } from "./feature.ts";

/**
 * The errors of the store. They stay unchanged: their messages are complete, and code that retries checks their class.
 */
const ofStore = [StoreUnavailable, StoreSetupError, MigrationNeeded];

/** Returns the error of a feature with the feature's name. The original error is the cause, with its stack. */
export function wrapFailure({ name }: Feature, step: "start" | "stop", error: unknown): unknown {
  if (ofStore.some((each) => isThrown(error, each))) return error;
  if (isThrown(error, DeclarationError))
    return new DeclarationError(
      error.mistakes.map((each) => `feature ${name}: ${each}`),
      { cause: error.cause },
    );
  return new Error(`feature ${name}: ${step} threw ${describeFault(error)}`, { cause: error });
}

/** Describes a fault in custom code. The stack of the cause shows its origin. */
export function describeFault(error: unknown): string {
  const other = otherCopyMistake(error);
  if (other !== null) return `${lineOfThrown(error)}; ${other}`;
  return isThrown(error, Error)
    ? lineOfThrown(error)
    : `${error === undefined ? "nothing" : shownThrown(error)}, which is no error`;
}
