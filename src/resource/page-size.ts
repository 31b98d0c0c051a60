/** How many records a page has unless the caller or its declaration says it. */
export const DEFAULT_LIMIT = 100;
/** The most records that a page can have. */
export const MAX_LIMIT = 1000;
