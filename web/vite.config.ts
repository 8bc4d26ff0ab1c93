// Names without digests: the files are part of the command, which serves them as it was built.
import { defineConfig } from "vite";

export default defineConfig({
  build: {
    target: "es2022",
    modulePreload: false,
    assetsInlineLimit: 0,
    rollupOptions: {
      output: {
        entryFileNames: "assets/page.js",
        assetFileNames: "assets/page[extname]",
      },
    },
  },
});
