import type { MailTemplates } from "./contract.ts";
import { withTimes } from "./notices.ts";

/** The templates in German. */
export const german: MailTemplates = withTimes("Seit der letzten Mail dieser Art ist das {times}-mal geschehen.", {
  sign_up: {
    subject: "Bestätigen Sie Ihre E-Mail-Adresse",
    text: `Bestätigen Sie Ihre Adresse, um Ihr Konto bei {service} anzulegen. Öffnen Sie diesen Link:

{link}

Oder geben Sie innerhalb von 10 Minuten diesen Code ein:
{code}

Der Link gilt 24 Stunden. Wenn Sie kein Konto anlegen wollten, ignorieren Sie diese Mail. Ohne Ihre Bestätigung entsteht kein Konto.`,
  },
  account_exists: {
    subject: "Sie haben schon ein Konto",
    text: `Jemand wollte mit Ihrer Adresse ein Konto bei {service} anlegen. Sie haben schon eines.

Wenn Sie es waren, melden Sie sich an. Wenn Sie Ihr Passwort vergessen haben, fordern Sie auf der Anmeldeseite ein neues an. Wenn Sie es nicht waren, ignorieren Sie diese Mail.`,
  },
  invitation: {
    subject: "Ihre Einladung zu {service}",
    text: `Sie haben ein neues Konto bei {service}. Öffnen Sie diesen Link, um Ihr Passwort zu wählen:

{link}

Oder geben Sie innerhalb von 10 Minuten diesen Code ein:
{code}

Der Link gilt 7 Tage.`,
  },
  membership: {
    subject: "Eine Einladung bei {service}",
    text: `Jemand bei {service} lädt Sie ein, mitzumachen. Öffnen Sie diesen Link, um zu sehen, wer Sie einlädt und wozu:

{link}

Der Link gilt 7 Tage und nur einmal. Wenn Sie nicht mitmachen wollen, ignorieren Sie diese Mail.`,
  },
  password_reset: {
    subject: "Wählen Sie ein neues Passwort",
    text: `Jemand hat für Ihr Konto bei {service} ein neues Passwort angefordert. Wenn Sie es waren, öffnen Sie diesen Link:

{link}

Oder geben Sie innerhalb von 10 Minuten diesen Code ein:
{code}

Der Link gilt 30 Minuten und nur einmal. Wenn Sie es nicht waren, ignorieren Sie diese Mail. Ihr Passwort bleibt, wie es ist.`,
  },
  login_code: {
    subject: "Anmeldung bei {service}",
    text: `Öffnen Sie diesen Link, um sich bei {service} anzumelden:

{link}

Oder geben Sie innerhalb von 10 Minuten diesen Code ein:
{code}

Der Link gilt 30 Minuten und nur einmal. Wenn Sie sich nicht anmelden wollten, ignorieren Sie diese Mail. Geben Sie den Code nie einer anderen Person.`,
  },
  factor_code: {
    subject: "Ihr Code für den zweiten Faktor",
    text: `Ihr Konto bei {service} braucht einen zweiten Faktor. Geben Sie innerhalb von 10 Minuten diesen Code ein, um ihn hinzuzufügen:
{code}

Wenn Sie sich gerade nicht anmelden, kennt eine andere Person Ihr Passwort: Ändern Sie es. Geben Sie den Code nie einer anderen Person.`,
  },
  confirm_code: {
    subject: "Ihr Code zur Bestätigung",
    text: `Jemand ist bei Ihrem Konto bei {service} angemeldet und will es ändern. Geben Sie innerhalb von 10 Minuten diesen Code ein, wenn Sie es sind:
{code}

Wenn Sie es nicht sind, beenden Sie auf Ihrer Kontoseite alle Anmeldungen. Geben Sie den Code nie einer anderen Person.`,
  },
  email_change: {
    subject: "Bestätigen Sie Ihre neue E-Mail-Adresse",
    text: `Ihr Konto bei {service} bekommt diese Adresse, wenn Sie sie bestätigen. Öffnen Sie diesen Link:

{link}

Oder geben Sie innerhalb von 10 Minuten diesen Code ein:
{code}

Der Link gilt 30 Minuten. Wenn Sie das nicht wollten, ignorieren Sie diese Mail.`,
  },
  address_taken: {
    subject: "Ihre Adresse wurde für ein anderes Konto angegeben",
    text: `Jemand wollte Ihre Adresse für ein anderes Konto bei {service} verwenden. Ihr Konto hat sie schon, darum hat sich nichts geändert.

Wenn Sie es waren, melden Sie sich bei dem Konto an, das diese Adresse hat. Wenn Sie es nicht waren, ignorieren Sie diese Mail.`,
  },
  factor_added: {
    subject: "Ihre Anmeldung hat einen zweiten Schritt bekommen",
    text: `Ihr Konto bei {service} hat am {at} einen zweiten Faktor bekommen. Alle anderen Anmeldungen sind beendet.

Wenn Sie es nicht waren, ändern Sie Ihr Passwort und wenden Sie sich an die Verwaltung.`,
  },
  factor_removed: {
    subject: "Ein zweiter Schritt Ihrer Anmeldung wurde entfernt",
    text: `Am {at} wurde ein zweiter Faktor Ihres Kontos bei {service} entfernt.

Wenn Sie es nicht waren, ändern Sie Ihr Passwort und wenden Sie sich an die Verwaltung.`,
  },
  factor_guessed: {
    subject: "Falsche Codes für Ihr Konto",
    text: `Bis {at} wurden viele falsche Codes für Ihr Konto bei {service} eingegeben. Vorerst wird kein weiterer Code angenommen.

Wer sie eingegeben hat, kennt wahrscheinlich Ihr Passwort. Wenn Sie es nicht waren, ändern Sie es.`,
  },
  recovery_codes_made: {
    subject: "Neue Wiederherstellungscodes für Ihr Konto",
    text: `Am {at} wurden neue Wiederherstellungscodes für Ihr Konto bei {service} erstellt. Die alten gelten nicht mehr.

Wenn Sie es nicht waren, ändern Sie Ihr Passwort und wenden Sie sich an die Verwaltung.`,
  },
  recovery_code_used: {
    subject: "Ein Wiederherstellungscode wurde benutzt",
    text: `Am {at} hat sich jemand mit einem Wiederherstellungscode bei Ihrem Konto bei {service} angemeldet. Der Code gilt nicht mehr.

Wenn Sie es nicht waren, ändern Sie Ihr Passwort und wenden Sie sich an die Verwaltung.`,
  },
  identity_linked: {
    subject: "Ihr Konto hat einen weiteren Anmeldeweg",
    text: `Am {at} wurde eine Anmeldung bei einem Identitätsanbieter mit Ihrem Konto bei {service} verknüpft. Wer sie besitzt, kann sich bei Ihrem Konto anmelden.

Wenn Sie es nicht waren, lösen Sie die Verknüpfung auf Ihrer Kontoseite, ändern Sie Ihr Passwort und wenden Sie sich an die Verwaltung.`,
  },
  identity_unlinked: {
    subject: "Ein Anmeldeweg Ihres Kontos wurde entfernt",
    text: `Am {at} wurde die Verknüpfung mit einer Anmeldung bei einem Identitätsanbieter von Ihrem Konto bei {service} gelöst. Anmeldungen darüber sind beendet.

Wenn Sie es nicht waren, ändern Sie Ihr Passwort und wenden Sie sich an die Verwaltung.`,
  },
  ways_ended: {
    subject: "Ihre Adresse ist bestätigt, und frühere Anmeldewege sind beendet",
    text: `Am {at} wurde Ihre Adresse bei {service} zum ersten Mal bestätigt, durch eine E-Mail. Jemand anderes kann das Konto vorbereitet haben. Deshalb gelten das Passwort, zweite Faktoren, Passkeys und Verknüpfungen von vorher nicht mehr.

Wenn Sie sie selbst eingerichtet hatten, richten Sie sie neu ein. Ein neues Passwort fordern Sie auf der Anmeldeseite an.`,
  },
  token_made: {
    subject: "Ein Token oder Schlüssel wurde für Ihr Konto erstellt",
    text: `Am {at} wurde ein API-Token oder ein Schlüssel für Ihr Konto bei {service} erstellt. Programme können damit in Ihrem Namen handeln.

Wenn Sie das nicht erwartet haben, widerrufen Sie ihn auf Ihrer Kontoseite und wenden Sie sich an die Verwaltung.`,
  },
  password_changed: {
    subject: "Ihr Passwort wurde geändert",
    text: `Das Passwort Ihres Kontos bei {service} wurde am {at} geändert.

Wenn Sie es nicht waren, fordern Sie auf der Anmeldeseite sofort ein neues an.`,
  },
  email_changed: {
    subject: "Ihre E-Mail-Adresse wurde geändert",
    text: `Die Adresse Ihres Kontos bei {service} wurde am {at} geändert. Mails gehen jetzt an die neue Adresse.

Wenn Sie es nicht waren, wenden Sie sich an die Verwaltung.`,
  },
  role_changed: {
    subject: "Die Rolle Ihres Kontos wurde geändert",
    text: `Die Verwaltung hat am {at} die Rolle Ihres Kontos bei {service} geändert. Ihre Kontoseite zeigt sie.

Wenn Sie das nicht erwartet haben, fragen Sie die Verwaltung.`,
  },
});
