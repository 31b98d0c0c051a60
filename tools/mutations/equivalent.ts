/** Changes that no test can notice, each with the reason. */
export const equivalent: Readonly<Record<string, string>> = {};
