import assert from "node:assert/strict";
import { test } from "node:test";
import { hasCardNumber, isSecretName, withoutKeys } from "./secretnames.ts";

for (const name of ["Password", "newPassword", "user_pin", "CVC", "card-number", "Card number", "cardNo", "one time code", "OTP", "TAN", "SSN", "API key", "accessToken", "Passwort", "Contraseña", "Prüfziffer", "Mot de passe"]) {
  test(`${name} is a secret`, () => assert.equal(isSecretName(name), true));
}
for (const name of ["Name", "Spinach", "Postal code", "Keyword", "Compass", "Stand", "Card holder", "Discard"]) {
  test(`${name} is none`, () => assert.equal(isSecretName(name), false));
}
test("card numbers", () => {
  for (const text of ["4111111111111111", "4111 1111 1111 1111", "my card is 5555-5555-5555-4444, thanks", "378282246310005", "0004111111111111111100"]) assert.equal(hasCardNumber(text), true, text);
  for (const text of ["4111111111111112", "+43 660 1234567", "2027-01-31", "0000000000000000", "1234567890123"]) assert.equal(hasCardNumber(text), false, text);
});
test("addresses lose what may be a key", () => {
  assert.equal(withoutKeys("https://u:p@shop.example.com/a?q=tea&token=1&sid=2&page=3&x=eyJhbGciOiJIUzI1NiJ9.abcdef0#top"), "https://shop.example.com/a?q=tea&page=3");
});
