// Makes the files of others that are kept in this repository: the page's editor, and the accessibility checker of the tests.
// Run `make vendor`; the same versions give the same bytes.
import { copyFile, readFile, writeFile } from "node:fs/promises";
import { build } from "esbuild";

const PAGE = "../src/discreet/server/page/vendor";
const TESTS = "../tests/server/vendor";

// Styles go into a sheet that scripts own instead of a <style> element, which our Content-Security-Policy forbids.
const strictStyles = {
  name: "strict-styles",
  setup({ onLoad }) {
    onLoad({ filter: /style-mod\.js$/ }, async ({ path }) => {
      const text = await readFile(path, "utf8");
      const contents = text.replace("!root.head && root.adoptedStyleSheets", "root.adoptedStyleSheets");
      if (contents === text) throw new Error("style-mod has changed: see vendor.js");
      return { contents };
    });
  },
};

const { metafile } = await build({
  entryPoints: ["codemirror.js"],
  outfile: `${PAGE}/codemirror.js`,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  legalComments: "none",
  metafile: true,
  plugins: [strictStyles],
});

const packages = new Set(
  Object.keys(metafile.inputs)
    .map((path) => path.match(/node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1])
    .filter(Boolean),
);
const notices = await Promise.all(
  [...packages].sort().map(async (name) => {
    const { version } = JSON.parse(await readFile(`node_modules/${name}/package.json`, "utf8"));
    return `${name} ${version}\n\n${await readFile(`node_modules/${name}/LICENSE`, "utf8")}`;
  }),
);
await writeFile(`${PAGE}/codemirror.LICENSES.txt`, notices.join(`\n${"-".repeat(80)}\n\n`));
await copyFile("node_modules/axe-core/axe.min.js", `${TESTS}/axe.min.js`);
await copyFile("node_modules/axe-core/LICENSE", `${TESTS}/axe.LICENSE.txt`);
