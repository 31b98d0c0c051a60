import type { Mount } from "../http/mount/mount.ts";
import { isRequired } from "../resource/field.ts";
import { boolean, email, text } from "../resource/fields.ts";
import { DeclarationError, defineResource, type Fields, type RecordOf } from "../resource/resource.ts";

/** What a user has besides fields of one's own. */
const shown = {
  name: text({ maxLength: 200, description: "The name that is shown.", example: "Ann Example" }),
  email: email({
    unique: "case-insensitive",
    description: "Unique without regard to case, kept as written.",
    example: "ann@example.com",
  }),
};

/** How a user logs in is written with the user and kept apart, in the account of the same id. */
const unshown = {
  username: text({
    maxLength: 150,
    pattern: { matches: /^[^:]*$/, detail: "A colon is not allowed, because Basic could not carry it." },
    optional: true,
    writeOnly: true,
    transient: true,
    description: "What the user logs in with; the e-mail address where it is left out.",
  }),
  password: text({
    minLength: 8,
    maxLength: 256,
    trim: false,
    optional: true,
    writeOnly: true,
    transient: true,
    description: "A user without one cannot log in with a password.",
  }),
  current_password: text({
    maxLength: 256,
    trim: false,
    optional: true,
    writeOnly: true,
    transient: true,
    description: "Needed to change one's own password, username or e-mail.",
  }),
  end_keys: boolean({
    optional: true,
    writeOnly: true,
    transient: true,
    description: "With a new password: the API token and the keys end too.",
  }),
};

/** Users, with `own` fields besides. Throws `DeclarationError` where one of those cannot be. */
export function usersResource(own: Fields) {
  const mistakes = [...mistakesIn(own)];
  if (mistakes.length > 0) throw new DeclarationError(mistakes);
  return defineResource({
    name: "user",
    description: "Someone who may use the service.",
    fields: { ...shown, ...own, ...unshown },
    filters: {
      id: ["eq", "in", "lt", "lte", "gt", "gte"],
      name: ["eq", "starts", "contains", "istarts", "icontains"],
      email: ["eq", "starts"],
    },
    sorts: ["name", "email"],
    scans: true,
  });
}

/** Users are also made where nobody can be asked: the first administrator, an import, whom a proxy names. */
function* mistakesIn(own: Fields): Generator<string> {
  for (const [name, field] of Object.entries(own)) {
    if (Object.hasOwn(shown, name) || Object.hasOwn(unshown, name))
      yield `users have the field ${name} already; give yours another name`;
    else if (isRequired(field))
      yield `the field ${name} of users is required, and users are also made where nobody can be asked for it; make it optional, or give it a default`;
  }
}

/** The users' resource. Fields of one's own are not known to its type. */
export type Users = ReturnType<typeof usersResource>;

/** Users as they are served. */
export type UsersMount = Mount<Users>;

/** What others see of a user. */
export type ShownUser = RecordOf<Users>;
