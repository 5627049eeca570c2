/** `viceroy explain` prints the section about a code that a diagnostic names, in an installed package too. */
import { expect, test } from "vitest";
import { explain } from "../../../compiler/cli/commands/explain.js";
import { diagnosticTable, renderDiagnostic } from "../../../compiler/diagnostics/index.js";
import { breakTable, unusedIgnore } from "../../../compiler/evolve/index.js";
import { TestIo } from "../folder.js";

function asked(code: string) {
  const io = new TestIo();
  return { code: explain(code, io), out: io.lines.join("\n"), err: io.errors };
}

test.each([...Object.keys(diagnosticTable), ...breakTable.keys(), unusedIgnore.code])(
  "explain prints one section about %s",
  (code) => {
    const { out, ...rest } = asked(code);
    expect(rest).toEqual({ code: 0, err: [] });
    expect(out.startsWith(`### ${code}: `)).toBe(true);
    expect(out.match(/^### /gm)).toHaveLength(1);
  },
);

test("a diagnostic names the explain command, which accepts codes in lower case", () => {
  const at = { file: "a.ts", line: 1, column: 1 };
  const text = renderDiagnostic(
    { ...at, code: "VC1107", severity: "error", text: "wrong" },
    { color: false, textOf: () => undefined },
  );
  expect(text).toBe("a.ts:1:1 error VC1107: wrong\n  see npx viceroy explain VC1107");
  expect(asked("vc1107").code).toBe(0);
});

test("explain refuses an unknown code with exit code 3", () => {
  expect(asked("VC9999")).toEqual({
    code: 3,
    out: "",
    err: ['cannot explain VC9999: expected a code of Viceroy such as VC1107, got "VC9999"'],
  });
});
