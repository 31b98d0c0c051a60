/**
 * The differences between each drawn page and the page of the service that are on purpose, each with its reason. A page
 * without such a difference has an empty list. The names and records of the pictures are not compared.
 */
const lists = "The bar has “Users” and “More”: the club of the pictures keeps the built-in users and orders.";
const focus = "The first empty field has the focus, so that a reader can type at once.";
const mark = "The mark of a company is the first letter of its name.";
const file = "“Bring tasks from a file” is below the form: the button of an empty list leads there.";

export const drawnDifferences: Readonly<Record<string, readonly string[]>> = {
  account: [
    lists,
    "“Last changed” is missing at the password, because the service does not keep that time.",
    "The username has a line: people may log in with it.",
    "“Others do not see it.” is missing at the e-mail, because a service may show it to others.",
    "An app, a passkey and a company unfold a form, because the service asks for a name or for the password there.",
    "A login has its address, so that a reader recognizes it.",
  ],
  "account-new": [
    lists,
    "The note about the confirmed address is on the page for logging in, which is the next page after the link.",
    "The other differences are those of the account.",
  ],
  "company-unknown": [
    "The address at the company is not named: the answer of the service does not have it, because a log may keep it.",
  ],
  confirm: [
    "The code of the app comes first, because the account of the picture has two-step login; the drawing starts with the password.",
    "A recovery code is offered too: it is the way for a lost phone.",
    focus,
  ],
  docs: [
    "The bar has the parts of the documentation, because its readers are developers.",
    "Operations have the groups of the OpenAPI document, and all parameters, fields and answers of it.",
    "“Try it” has the header fields that the operation takes.",
    "Answers are folded, so that the fields of the body stay in view.",
  ],
  factor: ["The name of the user is missing: it is not shown before the login is complete."],
  forgot: [focus],
  form: [
    lists,
    "Every reference is a search field with the script, also the project: the drawing has a short list there.",
    file,
  ],
  "form-errors": [
    lists,
    "The number of mistakes is a digit.",
    "Sentences name the rule and not the typed text, which is in the field.",
    "A title that is taken is reported once the other fields are right: only the store knows it.",
  ],
  invitation: [focus],
  "link-expired": ["The address is empty: a link that does not work does not reveal whose it was.", focus],
  list: [
    lists,
    "Columns are all fields as declared, the name first; the drawing has some of them in another order.",
    "“Remove all” is missing beside one filter: removing that one is the same.",
    "A list that fits on one page has no “Next page” and no “Count all”.",
  ],
  "list-empty": ["The drawing shows two states on one page. The second one is at /books?author[icontains]=tide."],
  login: [focus, mark],
  "login-wrong": ["The sentence names the page that follows and not the lists, which only a user may know.", mark],
  mailbox: [focus],
  "problem-403": [
    lists,
    "The sentence names the roles and not the budget: it is the same for every page of a permission.",
  ],
  "problem-404": [lists],
  "problem-409": [
    lists,
    "The title says what did not happen and not “This book is lent”: the service does not know what a loan means.",
    "Who has the book is on the page of the loans, which the second button opens.",
  ],
  "problem-412": [lists],
  record: [
    lists,
    "Only the state is below the title: no declaration names a date for it.",
    "Lists within the record come before lists that refer to it.",
    "“Finish” is the name of the action made readable; an action has no label of its own.",
    "“Made by” has its own line, because it is a declared field.",
    "Members have “New” too, for people who have an account.",
  ],
  recovery: [],
  "recovery-codes": ["Codes are longer, so they are in one column."],
  reset: [
    "The choice is “Keep my keys for programs”, not “End my keys”: a form without script does not send a cleared checkbox, and keys end unless the reader keeps them.",
    focus,
  ],
  root: [lists, "“The people who use the service” is the description of the built-in users."],
  "root-developer": [
    lists,
    "The start page has no ETag, because it differs for each caller.",
    "The strip has also OpenAPI, the list of problems and the state of the service.",
  ],
  "root-visitor": ["“Log in to see more” does not name the lists, which only a user may know."],
  signup: [focus, mark],
  totp: ["A link opens the app on this device: a reader on the phone cannot scan its own screen."],
  verify: ["A username can be chosen in a fold.", focus],
  why: [
    lists,
    "The page uses the full width: the same as JSON is beside the steps.",
    "The words of the schemes and the permission are those of the API, because developers compare them with their code.",
  ],
};
