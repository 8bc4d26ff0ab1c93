package truth;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import javax.tools.ToolProvider;

/**
 * A compiler that stays: each line of the input is one call of javac, its arguments between tabs;
 * the answer is `ok`, or the compiler's words and then `failed`.
 */
public final class Compile {
  private Compile() {
  }

  public static void main(String[] args) throws Exception {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      ByteArrayOutputStream words = new ByteArrayOutputStream();
      int code = ToolProvider.getSystemJavaCompiler().run(null, words, words, line.split("\t"));
      if (code != 0) {
        System.out.println(words);
      }
      System.out.println(code == 0 ? "ok" : "failed");
      System.out.flush();
    }
  }
}
