// Says what is wrong with the bills of materials that are named.
import { readFileSync } from "node:fs";
import { Spec, Validation } from "@cyclonedx/cyclonedx-library";

const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6);
for (const file of process.argv.slice(2)) {
	const wrong = await validator.validate(readFileSync(file, "utf8"));
	if (wrong) {
		console.error(file, wrong);
		process.exitCode = 1;
	}
}
