import type { FieldWords } from "../forms/form.ts";

/** The words for the fields of an account. Fields of a service's own have the words of their declaration. */
export const accountWords: FieldWords = {
  name: ["Name"],
  email: ["New e-mail"],
  username: ["Username", "The name for logging in."],
  password: ["New password", "At least 8 characters. A few words are good."],
  current_password: ["Current password"],
  role: ["Role"],
  active: ["May log in"],
  label: ["Name", "So that you know it again, like “Phone”."],
};

/** The words where a recent login replaces the current password. */
export const proofWords: FieldWords = {
  ...accountWords,
  current_password: ["Your password", "Not needed if you logged in during the last ten minutes."],
};

/** The words for a key of a program. */
export const keyWords: FieldWords = {
  ...proofWords,
  name: ["Name of the program"],
  expires_at: ["Ends on"],
};
