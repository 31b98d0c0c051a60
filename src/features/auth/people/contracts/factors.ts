import type { FactorKind, MailStep, StoredFactor } from "../../gate/contract.ts";

/** Registers what a login can ask for as a second proof. */
export interface FactorsContract {
  /** Registers a kind of second factor. Called in `setUp`. Throws `DeclarationError` if its name is taken. */
  registerFactorKind(kind: FactorKind): void;
  /**
   * Registers the proof by mail that comes before a user adds the first factor during a login. Called in `setUp`. Mails
   * then prove addresses, so accounts show `email_verified_at`.
   */
  registerMailStep(step: MailStep): void;
  /**
   * Returns the active factor with this handle (the id of a passkey), for logins without a username. Returns null if
   * there is none.
   */
  findFactor(handle: string): Promise<StoredFactor | null>;
}
