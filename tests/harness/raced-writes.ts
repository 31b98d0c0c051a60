/** The method, the path and the body of a write of a member. */
type Race = (round: number) => readonly [method: string, path: string, body?: unknown];

/** Writes that are allowed because of a membership of the second project (`startTeams`), by name. */
export const races: Readonly<Record<string, Race>> = {
  create: (round) => ["POST", "/tasks", { project_id: 2, title: `created ${round}` }],
  patch: (round) => ["PATCH", "/tasks/3", { title: `patched ${round}` }],
  delete: (round) => ["DELETE", `/tasks/${5 + round}`],
  "array of new records": (round) => [
    "POST",
    "/tasks",
    [1, 2].map((at) => ({ project_id: 2, title: `array ${round} ${at}` })),
  ],
  "array of changes": (round) => ["PATCH", "/tasks", [3, 4].map((id) => ({ id, title: `changed ${round}` }))],
  "note below a project": (round) => ["POST", "/projects/2/notes", { line: `note ${round}` }],
  action: () => ["POST", "/tasks/4/finish"],
};
