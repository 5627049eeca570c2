/** Descriptor sets as protoc prints them: one entry for each file, without comments. */
import { readFileSync } from "node:fs";
import { runPeer } from "../../../peers.js";

/** By name, so that the order of files, which each tool chooses, does not matter. */
export function describeText(file: string): Readonly<Record<string, string>> {
  const args = ["--decode=google.protobuf.FileDescriptorSet", "google/protobuf/descriptor.proto"];
  const { status, stdout, stderr } = runPeer("protoc", args, { input: readFileSync(file) });
  if (status !== 0) throw new Error(`cannot print ${file}: ${stderr}`);
  const texts = stdout
    .toString()
    .split(/^file \{$/m)
    .slice(1);
  return Object.fromEntries(
    texts.map((text) => {
      const name = /^ {2}name: "(.*)"$/m.exec(text)?.[1] ?? "";
      return [name, text.replace(/^ {2}source_code_info \{\n([\s\S]*?)^ {2}\}\n/m, "")];
    }),
  );
}
