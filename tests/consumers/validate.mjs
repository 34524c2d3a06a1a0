// What the Khronos validator says of .glb files: node validate.mjs OUT.json FILE.glb…
// Writes by file the codes and severities of its messages, the largest first, and what it counts.
import { readFileSync, writeFileSync } from "node:fs";
import validator from "gltf-validator";

const [output, ...files] = process.argv.slice(2);
const said = {};
for (const file of files) {
  const { issues, info } = await validator.validateBytes(new Uint8Array(readFileSync(file)), { maxIssues: 0 });
  const messages = issues.messages.map(({ code, severity }) => [severity, code]);
  said[file] = { messages, animations: info.animationCount, materials: info.materialCount };
}
writeFileSync(output, JSON.stringify(said));
