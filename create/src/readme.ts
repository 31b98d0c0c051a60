import type { Plan } from "./names.ts";

// The parts of the README that depend on the answers.

/** What the README says before the first request. `isOn` tells whether the project has teams. */
export function firstRequest(isOn: boolean, plural: string): string {
  return isOn
    ? `Only the members of a project see its ${plural}. Whoever creates a project becomes its owner. Set \`PASSWORD='the printed password'\`, then:`
    : `Every caller may read:

\`\`\`sh
curl http://127.0.0.1:8000/${plural}
\`\`\`

A user who is logged in may create ${plural}, and change only their own. Set \`PASSWORD='the printed password'\`, then:`;
}

/** The row of the README about the file of the teams. */
export const teamsRow =
  "| `resources/projects.ts` | projects, their members with roles, and what users see of each other |\n";

/** The section of the README about sign-ups. */
export const howToSignUp = `## How people sign up

\`\`\`sh
curl -H 'Content-Type: application/json' -d '{"name":"Ann","email":"ann@example.com"}' http://127.0.0.1:8000/users
\`\`\`

The answer is the same for every address, and a mail follows: \`npm run dev\` prints its link, and \`mails/\` has it as a file. The link leads to a page on which Ann
chooses a password. Forgotten passwords and invitations work in the same way. In production, set \`LATCHKEY_MAIL_URL\`, \`LATCHKEY_MAIL_FROM\` and \`LATCHKEY_PUBLIC_URL\`, and
install \`nodemailer\`. \`npx latchkey mail test ann@example.com\` tries it.

`;

/** The paths and bodies of the first requests that write. */
export function listDrafts(teams: boolean, plural: string): readonly (readonly [string, string])[] {
  return teams
    ? [
        ["projects", '{"name":"Mine"}'],
        [plural, '{"project_id":1,"title":"The first"}'],
      ]
    : [[plural, '{"title":"The first"}']];
}

/** The first requests that write, as the README shows them. */
export function howToWrite(login: Plan["login"], drafts: readonly (readonly [string, string])[]): string {
  const json = "-H 'Content-Type: application/json'";
  const who = `-d '{"username":"admin","password":"'$PASSWORD'"}'`;
  const pick = (member: string): string => `sed 's/.*"${member}":"\\([^"]*\\)".*/\\1/'`;
  const send = (credential: string): string =>
    drafts.map(([at, body]) => `curl ${credential} ${json} -d '${body}' http://127.0.0.1:8000/${at}`).join("\n");
  switch (login) {
    case "session":
      return `curl -c cookies.txt ${json} ${who} http://127.0.0.1:8000/api/session/\n${send("-b cookies.txt")}`;
    case "bearer":
      return `ACCESS=$(curl -s ${json} ${who} http://127.0.0.1:8000/api/token/ | ${pick("access")})\n${send('-H "Authorization: Bearer $ACCESS"')}`;
    case "token":
      return `TOKEN=$(curl -s ${json} ${who} http://127.0.0.1:8000/api-token-auth/ | ${pick("token")})\n${send('-H "Authorization: Token $TOKEN"')}`;
    case "basic":
      return send('-u "admin:$PASSWORD"');
  }
}
