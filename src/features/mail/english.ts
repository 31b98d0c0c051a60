import type { MailTemplates } from "./contract.ts";
import { withTimes } from "./notices.ts";

/** The templates in English. */
export const english: MailTemplates = withTimes("Since the last mail of this kind, this has happened {times} times.", {
  sign_up: {
    subject: "Confirm your e-mail address",
    text: `Confirm your address to create your account at {service}. Open this link:

{link}

Or enter this code within 10 minutes:
{code}

The link works for 24 hours. If you did not ask for an account, ignore this mail. No account is created without your confirmation.`,
  },
  account_exists: {
    subject: "You already have an account",
    text: `A new account at {service} was requested with your address. You already have one.

If it was you, log in. If you have forgotten your password, ask for a new one on the login page. If it was not you, ignore this mail.`,
  },
  invitation: {
    subject: "Your invitation to {service}",
    text: `You have a new account at {service}. Open this link to choose your password:

{link}

Or enter this code within 10 minutes:
{code}

The link works for 7 days.`,
  },
  membership: {
    subject: "You are invited at {service}",
    text: `Someone at {service} invites you to take part. Open this link to see who invites you, and to what:

{link}

The link works for 7 days and only once. If you do not want to take part, ignore this mail.`,
  },
  password_reset: {
    subject: "Choose a new password",
    text: `A new password was requested for your account at {service}. If it was you, open this link:

{link}

Or enter this code within 10 minutes:
{code}

The link works for 30 minutes and only once. If it was not you, ignore this mail. Your password does not change.`,
  },
  login_code: {
    subject: "Log in to {service}",
    text: `Open this link to log in to {service}:

{link}

Or enter this code within 10 minutes:
{code}

The link works for 30 minutes and only once. If you did not want to log in, ignore this mail. Never give the code to another person.`,
  },
  factor_code: {
    subject: "Your code to add a second factor",
    text: `Your account at {service} needs a second factor. Enter this code within 10 minutes to add one:
{code}

If you are not logging in now, another person knows your password: change it. Never give the code to another person.`,
  },
  confirm_code: {
    subject: "Your code to confirm who you are",
    text: `Someone who is logged in to your account at {service} wants to change it. Enter this code within 10 minutes to confirm that it is you:
{code}

If it was not you, log out everywhere on your account page. Never give the code to another person.`,
  },
  email_change: {
    subject: "Confirm your new e-mail address",
    text: `Your account at {service} gets this address when you confirm it. Open this link:

{link}

Or enter this code within 10 minutes:
{code}

The link works for 30 minutes. If you did not ask for it, ignore this mail.`,
  },
  address_taken: {
    subject: "Your address was named for another account",
    text: `Another account at {service} asked for your address. Your account already has it, so nothing has changed.

If it was you, log in to the account that has this address. If it was not you, ignore this mail.`,
  },
  factor_added: {
    subject: "A second step was added to your login",
    text: `A second factor was added to your account at {service} on {at}. All other logins were ended.

If it was not you, change your password and ask an administrator for help.`,
  },
  factor_removed: {
    subject: "A second step was removed from your login",
    text: `A second factor was removed from your account at {service} on {at}.

If it was not you, change your password and ask an administrator for help.`,
  },
  factor_guessed: {
    subject: "Wrong codes for your account",
    text: `Many wrong codes were entered for your account at {service} up to {at}. No more codes are accepted for now.

The person who entered them probably knows your password. If it was not you, change it.`,
  },
  recovery_codes_made: {
    subject: "New recovery codes for your account",
    text: `New recovery codes were made for your account at {service} on {at}. The old ones are no longer valid.

If it was not you, change your password and ask an administrator for help.`,
  },
  recovery_code_used: {
    subject: "A recovery code was used",
    text: `A recovery code was used to log in to your account at {service} on {at}. It is no longer valid.

If it was not you, change your password and ask an administrator for help.`,
  },
  identity_linked: {
    subject: "Another way to log in was added to your account",
    text: `A login at an identity provider was linked to your account at {service} on {at}. Its owner can log in to your account.

If it was not you, unlink it on your account page, change your password and ask an administrator for help.`,
  },
  identity_unlinked: {
    subject: "A way to log in was removed from your account",
    text: `A login at an identity provider was unlinked from your account at {service} on {at}. Logins by it have ended.

If it was not you, change your password and ask an administrator for help.`,
  },
  ways_ended: {
    subject: "Your address was confirmed, and earlier ways to log in have ended",
    text: `Your address was confirmed for the first time at {service} on {at}, by a mail. Another person may have prepared the account, so the password, second factors, passkeys and linked identities from before no longer log in.

If you had set them yourself, set them again. Request a new password on the login page.`,
  },
  token_made: {
    subject: "A token or a key was made for your account",
    text: `An API token or a key was made for your account at {service} on {at}. Programs can use it to act as you.

If you did not expect it, revoke it on your account page and ask an administrator for help.`,
  },
  password_changed: {
    subject: "Your password was changed",
    text: `The password of your account at {service} was changed on {at}.

If it was not you, ask for a new password on the login page at once.`,
  },
  email_changed: {
    subject: "Your e-mail address was changed",
    text: `The address of your account at {service} was changed on {at}. Mails now go to the new address.

If it was not you, ask an administrator for help.`,
  },
  role_changed: {
    subject: "The role of your account was changed",
    text: `An administrator changed the role of your account at {service} on {at}. Your account page shows it.

If you did not expect it, ask an administrator.`,
  },
});
