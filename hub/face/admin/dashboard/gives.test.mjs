import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { missing } from "./gives.ts";

const cases = JSON.parse(readFileSync(new URL("testdata/gives.json", import.meta.url), "utf8"));

for (const { gives, has, words } of cases) test(`${JSON.stringify(gives)} of ${JSON.stringify(has)}`, () => assert.equal(missing(gives, has), words));
