// Which names are those of secrets, and which texts are ones. The worker, steps of packs and recordings have
// one opinion of that.

const NAMES = new RegExp(
  "(^|[^a-z])(" +
    [
      "pass(word|wd|phrase|code)|pwd|pin( ?code)?|cvc|cvv|cvv2|csc|otp|totp|tan|ssn|social security( (no|number))?|(credit |debit )?card ?(no|num|number)|cc ?(no|num|number)",
      "security ?code|verification ?code|one ?time ?(code|password|pin)|secret|2fa|mfa ?code|(api |access |auth |security )?token|(api|access|private|recovery|backup) ?(key|code)",
      "passwort|kennwort|geheimzahl|kartennummer|pruf(ziffer|nummer)|mot de passe|code (de securite|secret)|numero de (carte|tarjeta)|contrasena|clave|senha|wachtwoord|haslo",
    ].join("|") +
    ")([^a-z]|$)",
);

/** Whether something with such a name, or identifier, is a secret. */
export function isSecretName(name: string) {
  return NAMES.test(apart(name));
}

/** The words of a text or of an identifier: cardNumber and card_number are "card number". */
function apart(text: string) {
  const plain = text.normalize("NFD").replace(/\p{M}/gu, "");
  return plain.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/[\s_.[\]-]+/g, " ").toLowerCase();
}

/** Whether a text has the number of a payment card in it. */
export function hasCardNumber(text: string) {
  return (text.match(/\d(?:[ -]?\d){12,}/g) ?? []).some((digits) => {
    const all = digits.replace(/\D/g, "");
    for (let from = 0; from + 13 <= all.length; from++) {
      for (let length = 13; length <= 19 && from + length <= all.length; length++) if (isCard(all.slice(from, from + length))) return true;
      if (all.length <= 19) return false; // it is one number
    }
    return false;
  });
}

/** Whether digits have the check digit of cards (Luhn). */
function isCard(digits: string) {
  if (/^0+$/.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const twice = Number(digits.at(-1 - i)) * (i % 2 ? 2 : 1);
    sum += twice > 9 ? twice - 9 : twice;
  }
  return sum % 10 === 0;
}

/** An address without its fragment, and without what may be a key in its query. */
export function withoutKeys(address: string) {
  const url = new URL(address);
  url.hash = url.username = url.password = "";
  for (const [name, value] of [...url.searchParams]) {
    const isKey = isSecretName(name) || KEYS.test(name) || hasCardNumber(value) || (/^[\w.~+/=-]{24,}$/.test(value) && /\d/.test(value) && /[a-z]/i.test(value));
    if (isKey) url.searchParams.delete(name);
  }
  return url.href;
}

const KEYS = /^(sid|session\w*|auth\w*|key|sig|signature|code|state|nonce|hash|ticket|jwt)$/i;
