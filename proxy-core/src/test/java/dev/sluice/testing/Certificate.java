package dev.sluice.testing;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManagerFactory;

/** A fresh certificate for one host name that vouches for itself. */
public final class Certificate {
  private static final char[] PASSWORD = "changeit".toCharArray();

  private final KeyStore store;

  /** Makes a certificate for that host name. */
  public Certificate(String host)
      throws IOException, GeneralSecurityException, InterruptedException {
    Path directory = Files.createTempDirectory("sluice-tls");
    Path file = directory.resolve("keys.p12");
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
                new String(PASSWORD),
                "-keystore",
                file.toString())
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    if (keytool.waitFor() != 0) {
      throw new AssertionError("keytool: " + keytool.exitValue() + " (expected: 0)");
    }
    store = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(file)) {
      store.load(in, PASSWORD);
    }
    Files.delete(file);
    Files.delete(directory);
  }

  /** What the side that shows it needs. */
  public KeyManagerFactory keys() throws GeneralSecurityException {
    KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(store, PASSWORD);
    return keys;
  }

  /** What the side that trusts it, and no other, needs. */
  public TrustManagerFactory trust() throws GeneralSecurityException {
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    KeyStore trusted = KeyStore.getInstance("PKCS12");
    try {
      trusted.load(null, null);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    trusted.setCertificateEntry("it", store.getCertificate(store.aliases().nextElement()));
    trust.init(trusted);
    return trust;
  }
}
