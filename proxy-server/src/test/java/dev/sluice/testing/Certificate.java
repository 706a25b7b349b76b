package dev.sluice.testing;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** A fresh certificate for one host name that vouches for itself, in a PKCS#12 file. */
public final class Certificate implements AutoCloseable {
  /** The password of every such file. */
  public static final String PASSWORD = "changeit";

  private final Path file;

  /** Makes a certificate for that host name. */
  public Certificate(String host) {
    try {
      file = Files.createTempDirectory("sluice-tls").resolve("keys.p12");
      Process keytool =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                  "-genkeypair",
                  "-keyalg",
                  "EC",
                  "-dname",
                  "CN=" + host,
                  "-ext",
                  "san=dns:" + host,
                  "-storetype",
                  "PKCS12",
                  "-storepass",
                  PASSWORD,
                  "-keystore",
                  file.toString())
              .inheritIO()
              .start();
      if (keytool.waitFor() != 0) {
        throw new AssertionError("keytool failed");
      }
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** The file that holds certificate and private key; as a trust store it trusts this one alone. */
  public Path file() {
    return file;
  }

  /** What a TLS listener with this certificate needs. */
  public SSLContext context() {
    try (InputStream in = Files.newInputStream(file)) {
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(in, PASSWORD.toCharArray());
      KeyManagerFactory keys =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keys.init(store, PASSWORD.toCharArray());
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(keys.getKeyManagers(), null, null);
      return context;
    } catch (IOException | GeneralSecurityException e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public void close() {
    try {
      Files.delete(file);
      Files.delete(file.getParent());
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
