import { boolean, defineResource, email, text, type Mount, type RecordOf } from "../index.ts";

/** Users: what the specification shows. How a user logs in is written here and kept apart, in the account of the same id. */
export const users = defineResource({
  name: "user",
  description: "Someone who may use the service.",
  fields: {
    name: text({ maxLength: 200, description: "The name that is shown.", example: "Ann Example" }),
    email: email({
      unique: "case-insensitive",
      description: "Unique without regard to case, kept as written.",
      example: "ann@example.com",
    }),
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
  },
  filters: {
    id: ["eq", "in", "lt", "lte", "gt", "gte"],
    name: ["eq", "starts", "contains", "istarts", "icontains"],
    email: ["eq", "starts"],
  },
  sorts: ["name", "email"],
  scans: true,
});

/** Users as they are served. */
export type UsersMount = Mount<typeof users>;

/** What others see of a user. */
export type ShownUser = RecordOf<typeof users>;
